#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A wait that lasts for progress_stall_time is reported once, with what it waits for.

    test_stall.py MPIEXEC STALL
"""
import subprocess
import sys

# MPI_Waitall waits for its last request first.
CASES = {
    "recv": ["MPI_Recv", "recv from rank 1", "tag 7", "4 bytes", "MPI_COMM_WORLD"],
    "waitall": ["MPI_Waitall", "send to rank 1", "tag 8", "1048576 bytes", "MPI_COMM_WORLD"],
    "finalize": ["MPI_Finalize", "send to rank 1", "tag 7", "1048576 bytes", "MPI_COMM_WORLD"],
}


def main():
    mpiexec, stall = sys.argv[1:]
    failed = 0
    for case, words in CASES.items():
        job = subprocess.Popen([mpiexec, "-n", "2", "--timeout", "60", "--stdin", "1", "--set",
                                "progress_stall_time=50", stall, case],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = job.stderr.readline()
        _, rest = job.communicate("\n")
        problems = ["does not say %r" % w for w in words + ["rank 0 of 2"] if w not in line]
        problems += ["exit status %d" % job.returncode] if job.returncode else []
        problems += ["a second line: " + x for x in rest.splitlines() if "rank 0" in x]
        for p in problems:
            failed += 1
            print("%s: %s" % (case, p))
        if problems:
            print("    it said: " + line + rest)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
