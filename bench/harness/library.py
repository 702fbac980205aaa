# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that bench/run compares: how each compiles and launches a program, and fi_pingpong."""
import collections
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FLAGS = ["-O2", "-D_GNU_SOURCE", "-w"]


# What a program has measured; line: the bare cache line in ns [before, after] it, or None.
Figure = collections.namedtuple("Figure", "value unit line")


class Failed(Exception):
    """A run that gives no figures; the text says why."""


def adopt_orphans():
    """Launchers that are killed leave ranks behind, which come to us, so that we can end them."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def children():
    """All processes below this one."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open("/proc/%s/stat" % entry) as f:
                    parents.setdefault(int(f.read().rsplit(")", 1)[1].split()[1]), []).append(int(entry))
            except OSError:
                pass
    found, todo = [], [os.getpid()]
    while todo:
        below = parents.get(todo.pop(), [])
        found += below
        todo += below
    return found


def sweep():
    """End what a run has left."""
    for _ in range(20):
        left = children()
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError):
                pass
        time.sleep(0.02)


def run_at_once(programs, limit):
    """Output of programs [(args, env)] that run at once, and the seconds of the longest; Failed when one crashes, or
    they hang for `limit` seconds."""
    began = time.monotonic()
    processes = [subprocess.Popen(args, env=dict(os.environ, **env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, start_new_session=True) for args, env in programs]
    try:
        done = [p.communicate(timeout=max(0, began + limit - time.monotonic())) for p in processes]
    except subprocess.TimeoutExpired:
        sweep()
        for p in processes:
            p.communicate()
        raise Failed("no end after %g s" % limit) from None
    wall = time.monotonic() - began
    sweep()
    for p, (_, err) in zip(processes, done):
        if p.returncode != 0:
            last = [line for line in err.decode(errors="replace").splitlines() if line.strip(" -=")]
            raise Failed("exit status %d: %s" % (p.returncode, " / ".join(last[:2])[:160]))
    return [out.decode(errors="replace") for out, _ in done], wall


def run(args, env, limit):
    """The same of one."""
    outs, wall = run_at_once([(args, env)], limit)
    return outs[0], wall


def figures_of(text):
    """{(name, parameter): Figure} of the lines in bench.h's format."""
    found = {}
    for text_line in text.splitlines():
        m = re.match(r"(\w+) (\d+) ([-+.\deE]+) (\S+)(?: line (\d+) (\d+))?$", text_line)
        if m:
            line = [int(m.group(5)), int(m.group(6))] if m.group(5) else None
            found[m.group(1), int(m.group(2))] = Figure(float(m.group(3)), m.group(4), line)
    return found


def shared_page():
    """A file of one page, which is gone when it is closed: what the processes of a run share (bench.h)."""
    page = tempfile.NamedTemporaryFile()
    page.truncate(4096)
    return page


class Library:
    """An MPI; name is the column, env what its ranks get in addition."""

    def __init__(self, name, title, cc, launcher, env=None):
        self.name, self.title, self.cc, self.launcher, self.env = name, title, cc, launcher, env or {}

    def is_there(self):
        return bool(shutil.which(self.cc) and shutil.which(self.launcher[0]))

    def compile(self, program, to):
        exe = os.path.join(to, self.title.replace(" ", "") + "-" + program.replace("/", "-"))
        done = subprocess.run([self.cc] + FLAGS + [os.path.join(HERE, program + ".c"), "-o", exe, "-lm"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            raise Failed("does not compile: " + done.stdout.decode(errors="replace")[-300:])
        return exe

    def command(self, exe, case):
        return (self.launcher + ["-n", str(case.ranks)] if case.launched else []) + [exe] + case.arguments

    def measure(self, exe, case):
        with shared_page() as page:
            out, wall = run(self.command(exe, case), dict(self.env, BENCH_LINE=page.name), case.limit)
        found = figures_of(out)
        if case.name == "start":
            found["start" if case.launched else "start_alone", case.ranks] = Figure(wall * 1e3, "ms", None)
        if not found:
            raise Failed("printed no figures")
        return found


def measure_in_turns(jobs):
    """The figures of jobs [(library, program, case)] that take turns on the same cores (bench.h), in their order."""
    with shared_page() as page:
        outs, _ = run_at_once([(lib.command(exe, case), dict(lib.env, BENCH_TURNS=page.name, BENCH_TURN=str(place),
                                                             BENCH_JOBS=str(len(jobs))))
                               for place, (lib, exe, case) in enumerate(jobs)], jobs[0][2].limit)
    return [figures_of(out) for out in outs]


class Machine(Library):
    """No MPI: what the machine itself can do."""

    def __init__(self):
        super().__init__("limit", "limit", "cc", ["cc"])


def fathom(build, name="fathom", env=None):
    return Library(name, "Fathom", os.path.join(build, "bin", "mpicc"), [os.path.join(build, "bin", "mpiexec")], env)


def peers(names):
    """Those of the peers that are installed, and the names of the others."""
    known = {
        "mpich": Library("mpich", "MPICH", "mpicc.mpich", ["mpiexec.hydra"]),
        "openmpi": Library("openmpi", "Open MPI", "mpicc.openmpi",
                           ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]),
    }
    there = [known[n] for n in names if known[n].is_there()]
    return there, [n for n in names if not known[n].is_there()]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(port):
    """Does a process listen on this port? The kernel is asked, since a connection would use up the only one."""
    with open("/proc/net/tcp") as f:
        return any(fields[1].endswith(":%04X" % port) and fields[3] == "0A"
                   for fields in map(str.split, f.readlines()[1:]))


def pingpong(provider, size, iterations, limit=30):
    """Half a round trip in ns of libfabric's fi_pingpong, processes pinned as ours are."""
    if not shutil.which("fi_pingpong"):
        raise Failed("fi_pingpong is not installed (package libfabric-bin)")
    port = free_port()
    until = time.monotonic() + limit
    args = ["-p", provider, "-e", "rdm", "-S", str(size), "-I", str(iterations)]
    pinned = [["taskset", "-c", str(core % os.cpu_count()), "fi_pingpong"] for core in (0, 1)]
    server = subprocess.Popen(pinned[0] + ["-B", str(port)] + args, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        while not listens(port):
            if server.poll() is not None or time.monotonic() > until:
                raise Failed("fi_pingpong does not run with provider " + provider)
            time.sleep(0.02)
        client = subprocess.run(pinned[1] + ["-P", str(port)] + args + ["127.0.0.1"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, timeout=limit, check=False)
        fields = client.stdout.decode().strip().split("\n")[-1].split()
        if client.returncode or len(fields) < 8:
            raise Failed("fi_pingpong fails with provider " + provider)
        return float(fields[6]) * 1e3
    except subprocess.TimeoutExpired:
        raise Failed("fi_pingpong: no end after %g s" % limit) from None
    finally:
        server.kill()
        server.wait()
        sweep()
