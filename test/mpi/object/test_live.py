#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does MPI_Finalize report what a program has not freed, if asked to, and nothing else?

    test_live.py MPIEXEC PROGRAM
"""
import os
import subprocess
import sys

KINDS = ["communicator", "group", "request", "datatype", "operation", "info object", "error handler"]
CASES = [[], [1], [4], [0, 2], [0, 0, 3], [0, 0, 0, 2], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 2],
         [0, 0, 0, 0, 0, 0, 5], [3, 1, 2, 4, 1, 1, 2]]


def expected(counts):
    parts = ["%d %s%s" % (n, kind, "s" if n > 1 else "") for n, kind in zip(counts, KINDS) if n]
    return "the program has not freed at MPI_Finalize: " + ", ".join(parts) if parts else ""


def run(mpiexec, program, ranks, counts, is_wanted):
    env = dict(os.environ, FATHOM_RUNTIME_REPORT_LIVE="yes" if is_wanted else "no")
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # the program leaks: that is what is reported
    done = subprocess.run([mpiexec, "-n", str(ranks), program] + [str(n) for n in counts], env=env, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lines = done.stderr.decode().splitlines()
    want = expected(counts) if is_wanted else ""
    prefixes = ["fathom: rank %d of %d (pid " % (r, ranks) for r in range(ranks)]
    is_right = (done.returncode == 0 and len(lines) == (ranks if want else 0) and
                all(line.endswith(want) for line in lines) and
                all(sum(line.startswith(p) for line in lines) == (1 if want else 0) for p in prefixes))
    if not is_right:
        print("%d ranks, %s, %s: status %d\n%s\nmust be: %s" % (ranks, counts, "wanted" if is_wanted else "not wanted",
                                                             done.returncode, "\n".join(lines), want))
    return is_right


def main():
    mpiexec, program = sys.argv[1:]
    rows = [(ranks, counts, True) for ranks in (1, 2) for counts in CASES] + [(2, CASES[-1], False)]
    failed = sum(not run(mpiexec, program, *row) for row in rows)
    print("%d runs, %d wrong" % (len(rows), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
