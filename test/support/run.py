#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run one MPI program over one transport with several numbers of ranks.

    run.py [--ranks 1,2,4] [--transport NAME] [--timeout S] [--noisy] MPIEXEC PROGRAM [ARG...]

Transport names: tcp (libfabric gives tcp;ofi_rxm), net (its plain one over TCP), ofi-shm (its shm), shm (our own), mixed
(our own between even ranks and between odd ones, tcp from even to odd).
A run passes when it exits 0 in time, prints nothing on stderr (nor on stdout, unless --noisy), and leaves
nothing behind: no file in /dev/shm, no process of its session. One that exits 77 is skipped, and has said why.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time

TRANSPORTS = {
    "tcp": {"FATHOM_TRANSPORT": "ofi", "FATHOM_OFI_PROVIDER": "tcp"},
    "net": {"FATHOM_TRANSPORT": "ofi", "FATHOM_OFI_PROVIDER": "net"},
    "ofi-shm": {"FATHOM_TRANSPORT": "ofi", "FATHOM_OFI_PROVIDER": "shm"},
    "shm": {"FATHOM_TRANSPORT": "shm"},
    "mixed": {"FATHOM_TRANSPORT_CLIQUES": "2", "FATHOM_OFI_PROVIDER": "tcp"},
    "default": {},
}


def members(session):
    """Processes of a session that are not zombies."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            found.append(int(name))
    return found


def litter():
    """What lies in /dev/shm and is ours, or libfabric's (PID:DOMAIN:ENDPOINT) of a process that has ended. Other
    jobs run at the same time."""
    found = set()
    for name in os.listdir("/dev/shm"):
        of_pid = re.match(r"(\d+):\d+:\d+$", name)
        if "fathom" in name or (of_pid and not os.path.exists("/proc/" + of_pid.group(1))):
            found.add(name)
    return found


def lasting_litter(before):
    """What was not there before and is still there after a while: another job may be about to sweep."""
    until = time.monotonic() + 3
    left = litter() - before
    while left and time.monotonic() < until:
        os.sched_yield()
        left &= litter()
    return left


def run(command, env, limit):
    """Exit status (None: out of time), stdout, stderr, processes left."""
    child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(timeout=limit)
        status = child.returncode
    except subprocess.TimeoutExpired:
        subprocess.run(["sh", "-c", "for p in \"$@\"; do echo \"pid $p: $(cat /proc/$p/wchan) "
                        "$(tr '\\0' ' ' </proc/$p/cmdline)\"; done", "sh"]
                       + [str(p) for p in members(child.pid)], check=False)
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        status = None
    left = members(child.pid)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return status, out, err, left


def chosen(ranks):
    """TEST_RANKS narrows the numbers of ranks, where it leaves any."""
    only = os.environ.get("TEST_RANKS")
    return [n for n in ranks if n in only.split(",")] or ranks[:1] if only else ranks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", default="1,2,3,4,8")
    parser.add_argument("--transport", default="default", choices=sorted(TRANSPORTS))
    parser.add_argument("--timeout", type=float, default=60, help="seconds; TEST_SLOW multiplies it")
    parser.add_argument("--noisy", action="store_true")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    mpiexec, program = args.command[0], args.command[1:]
    env = dict(os.environ, **TRANSPORTS[args.transport])
    env.update(e.split("=", 1) for e in args.env)
    limit = args.timeout * float(os.environ.get("TEST_SLOW", "1"))
    failed = 0
    for n in chosen(args.ranks.split(",")):
        before = litter()
        status, out, err, left = run([mpiexec, "-n", n] + program, env, limit)
        problems = []
        if status == 77 and not left:
            sys.stdout.write(out.decode(errors="replace"))
            return 77
        if status is None:
            problems.append("still running after %g s" % limit)
        elif status != 0:
            problems.append("exit status %d" % status)
        if err or (out and not args.noisy):
            problems.append("it printed something")
        if left:
            problems.append("processes left: %s" % left)
        litter_left = lasting_litter(before)
        if litter_left:
            problems.append("left in /dev/shm: %s" % sorted(litter_left))
        for line in problems:
            failed += 1
            print("%s, %s ranks, %s: %s" % (os.path.basename(program[0]), n, args.transport, line))
        if problems:
            sys.stdout.write(out.decode(errors="replace")[-4000:])
            sys.stdout.write(err.decode(errors="replace")[-6000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
