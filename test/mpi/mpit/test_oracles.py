#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is every performance variable, and the number of events of every type, held against an independent count?

    test_oracles.py FATHOM MPIEXEC RUN...      RUN: RANKS:TRANSPORT:PROGRAM, or PROGRAM for one without MPI

Runs the tests that compare variables with counts of their own. Each notes the names that it has compared in the
file named by ORACLE_LOG; a variable or event of `fathom list` that none has compared is a failure, and so is a name that the
library does not have.
"""
import json
import os
import subprocess
import sys
import tempfile

TRANSPORTS = {"shm": {"FATHOM_TRANSPORT": "shm"}, "tcp": {"FATHOM_TRANSPORT": "ofi", "FATHOM_OFI_PROVIDER": "tcp"}}
SKIPPED = 77


def command(mpiexec, run):
    """What to start, and its environment."""
    parts = run.split(":", 2)
    if len(parts) < 3:
        return [run], {"CK_FORK": "no"}
    return [mpiexec, "-n", parts[0], parts[2]], TRANSPORTS[parts[1]]


def main():
    fathom, mpiexec, runs = sys.argv[1], sys.argv[2], sys.argv[3:]
    listing = subprocess.run([fathom, "list", "--json"], check=True, stdout=subprocess.PIPE).stdout
    known = [v["name"] for kind in ("pvars", "events") for v in json.loads(listing)[kind]]
    compared, failed, lacking = set(), 0, ()
    for run in runs:
        argv, env = command(mpiexec, run)
        with tempfile.NamedTemporaryFile() as log:
            done = subprocess.run(argv, env=dict(os.environ, ORACLE_LOG=log.name, **env), timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            names = set(log.read().decode().split("\n")[:-1])
        if done.returncode not in (0, SKIPPED):
            print("%s: status %d\n%s" % (run, done.returncode, done.stdout.decode(errors="replace")[-3000:]))
            failed += 1
        if done.returncode == SKIPPED and "ofi" in os.path.basename(run):
            lacking = ("ofi_",)  # no libfabric here
        print("%s: %d variables" % (os.path.basename(run), len(names)))
        compared |= names
    never = [name for name in known if name not in compared and not name.startswith(lacking)]
    print("%d of %d variables and events are compared" % (len(known) - len(never), len(known)))
    for name in never:
        print("no test compares %s with an independent count: add it to one of the oracle programs" % name)
    return 1 if failed or never else 0


if __name__ == "__main__":
    sys.exit(main())
