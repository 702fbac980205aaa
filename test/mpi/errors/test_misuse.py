#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a user reads after a mistake: rank, call, class, the argument's value, and a status that is not 0.

    test_misuse.py MPIEXEC MISUSE MISMATCH
"""
import re
import subprocess
import sys

# mistake: words that the text must have, in any order.
EXPECT = {
    "negative_count": ["MPI_Send", "MPI_ERR_COUNT", "count", "-1"],
    "rank_too_high": ["MPI_Send", "MPI_ERR_RANK", "dest", "7", "MPI_COMM_WORLD"],
    "rank_negative": ["MPI_Recv", "MPI_ERR_RANK", "source", "-77"],
    "any_source_in_send": ["MPI_Send", "MPI_ERR_RANK", "dest"],
    "tag_negative": ["MPI_Isend", "MPI_ERR_TAG", "-9"],
    "tag_too_high": ["MPI_Send", "MPI_ERR_TAG"],
    "null_buffer": ["MPI_Send", "MPI_ERR_BUFFER", "NULL"],
    "null_comm": ["MPI_Barrier", "MPI_ERR_COMM", "MPI_COMM_NULL"],
    "made_up_comm": ["MPI_Comm_rank", "MPI_ERR_COMM"],
    "null_type": ["MPI_Send", "MPI_ERR_TYPE", "MPI_DATATYPE_NULL"],
    "freed_request": ["MPI_Wait", "MPI_ERR_REQUEST"],
    "made_up_request": ["MPI_Wait", "MPI_ERR_REQUEST"],
    "aborting_comm": ["MPI_Send", "MPI_ERR_RANK", "MPI_ERRORS_ABORT"],
    "called_handler": ["MPI_Comm_call_errhandler failed: MPI_ERR_OTHER: known error"],
    "own_error": ["MPI_Comm_call_errhandler failed: error of the application: the moon is full;"],
    "freed_and_failed": ["MPI_Request_free", "MPI_ERR_TRUNCATE", "100", "10"],
    "truncated": ["MPI_Recv", "MPI_ERR_TRUNCATE", "100", "10"],
    "root_too_high": ["MPI_Bcast", "MPI_ERR_ROOT", "root", "2"],
    "wrong_op": ["MPI_Allreduce", "MPI_ERR_OP", "MPI_BAND"],
    "unbuilt": ["MPI_Open_port", "MPI_ERR_UNSUPPORTED_OPERATION"],
    "init_twice": ["MPI_Init"],
    "abort_7": ["MPI_Abort", "7"],
    "after_finalize": ["MPI_Send", "MPI_Finalize"],
    "before_init": ["MPI_Send", "MPI_Init"],
    "split_bcast": ["MPI_Bcast", "MPI_ERR_"],
    "split_allgather": ["MPI_Allgather", "MPI_ERR_"],
    "split_alltoall": ["MPI_Alltoall", "MPI_ERR_"],
    "split_reduce": ["MPI_Reduce", "MPI_ERR_"],
    "split_allreduce": ["MPI_Allreduce", "MPI_ERR_"],
    # With coll_check: both sides are named, also by calls that do not wait.
    "fatal-0": ["MPI_Ibcast", "MPI_ERR_ROOT", "rank 0 MPI_Ibcast (1 x MPI_INT, root 0)",
                "rank 1 MPI_Ibcast (1 x MPI_INT, root 1)"],
    "fatal-1": ["MPI_ERR_OTHER", "rank 0 MPI_Ibarrier", "rank 1 MPI_Iallreduce (1 x MPI_INT, MPI_SUM)"],
    "fatal-2": ["MPI_ERR_TYPE", "rank 0 MPI_Bcast (1 x MPI_INT, root 0)", "rank 1 MPI_Bcast (2 x MPI_INT, root 0)"],
}


def main():
    mpiexec, misuse, mismatch = sys.argv[1:]
    failed = 0
    for mistake, words in EXPECT.items():
        program = [mismatch] if mistake.startswith("fatal") else [misuse]
        done = subprocess.run([mpiexec] + (["--check"] if program == [mismatch] else []) + ["-n", "8" if mistake.startswith("split") else "2"] + program + [mistake],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              check=False)
        text = done.stderr.decode(errors="replace")
        problems = ["does not say %r" % w for w in words if w not in text]
        if done.returncode == 0:
            problems.append("exit status 0")
        if done.returncode >= 128:
            problems.append("ended by signal %d" % (done.returncode - 128))
        if mistake == "abort_7" and done.returncode != 7:
            problems.append("exit status %d, not 7" % done.returncode)
        if "before" not in mistake and not re.search(r"rank [0-7]\b", text):
            problems.append("does not name a rank")
        for p in problems:
            failed += 1
            print("%s: %s" % (mistake, p))
        if problems:
            print("    it said: " + text.replace("\n", "\n             "))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
