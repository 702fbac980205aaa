# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of mpiexec and fathom share: running jobs, waiting for what happens, and looking
for what is left behind. Everything that a job starts carries a mark in its environment."""
import os
import re
import select
import signal
import subprocess
import sys
import time
import unittest
import uuid

MPIEXEC = ACTOR = FATHOM = ''
LIMIT = 40 * float(os.environ.get('TEST_SLOW', '1'))  # seconds for anything; machines may be loaded

# Who runs the tests in the background, or under nohup, ignores some, and what we start would inherit that.
for ended_by in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM:
    if signal.getsignal(ended_by) == signal.SIG_IGN:
        signal.signal(ended_by, signal.SIG_DFL)


def is_watchdog(pid):
    try:
        with open(f'/proc/{pid}/comm') as f:
            return f.read() == 'mpiexec-watch\n'
    except OSError:
        return False


def has_sanitizer():
    """Are the programs under test built with AddressSanitizer or ThreadSanitizer?"""
    with open(sys.argv[2], 'rb') as f:
        return re.search(rb'lib[at]san\.so', f.read()) is not None


def until(condition, what):
    """Wait until condition() is true."""
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError('waited in vain until ' + what)
        select.select([], [], [], 0.005)


def is_alive(pid):
    """Neither gone nor a zombie."""
    return state_of(pid) not in ('', 'Z', 'X')


def state_of(pid):
    try:
        with open(f'/proc/{pid}/stat') as f:
            return f.read().rpartition(')')[2].split()[0]
    except OSError:
        return ''


class Job:
    """A command that runs; its output is collected as it comes."""

    def __init__(self, *command, env=None, stdin=subprocess.DEVNULL, cwd=None):
        self.mark = 'FM_TEST_MARK=' + uuid.uuid4().hex
        key, value = self.mark.split('=')
        full = {**os.environ, 'FATHOM_OFI_PROVIDER': 'tcp', **(env or {})}
        full[key] = value
        self.before = litter()
        self.child = subprocess.Popen([str(c) for c in command], env=full, stdin=stdin, cwd=cwd,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      preexec_fn=os.setpgrp)
        self.out = self.err = ''
        for f in (self.child.stdout, self.child.stderr):
            os.set_blocking(f.fileno(), False)

    @property
    def pid(self):
        return self.child.pid

    def read(self, timeout=0.02):
        """Take what has come."""
        streams = [self.child.stdout, self.child.stderr]
        for f in select.select(streams, [], [], timeout)[0]:
            text = (os.read(f.fileno(), 1 << 16) or b'').decode(errors='replace')
            if f is self.child.stdout:
                self.out += text
            else:
                self.err += text

    def expect(self, pattern, n=1):
        """Wait until the output has n matches, return them."""
        def found():
            self.read()
            return len(re.findall(pattern, self.out)) >= n
        until(found, f'{pattern!r} came {n} times; there is:\n{self.out}\n{self.err}')
        return re.findall(pattern, self.out)

    def end(self):
        """Wait for the command's end and return its exit status as a shell has it."""
        def ended():
            self.read()
            return self.child.poll() is not None
        try:
            until(ended, f'the job ended; there is:\n{self.out}\n{self.err}')
        except AssertionError:
            self.kill_all()
            raise
        while True:
            had = len(self.out) + len(self.err)
            self.read(0)
            if had == len(self.out) + len(self.err):
                break
        code = self.child.returncode
        return code if code >= 0 else 128 - code

    def relatives(self, with_watchdog=False):
        """Live processes that have the mark, but for the command itself and the watchdog of mpiexec."""
        found = []
        for name in os.listdir('/proc'):
            if not name.isdigit() or int(name) == self.pid:
                continue
            try:
                with open(f'/proc/{name}/environ') as f:
                    if self.mark in f.read() and is_alive(int(name)) and (with_watchdog or not is_watchdog(name)):
                        found.append(int(name))
            except OSError:
                pass
        return found

    def kill_all(self):
        for pid in self.relatives(True) + [self.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.child.wait()

    def left(self):
        """What is left of it, after some time to die: processes and files."""
        end = time.monotonic() + 10
        files = litter() - self.before
        while (self.relatives(True) or files) and time.monotonic() < end:
            select.select([], [], [], 0.01)
            files = (files & litter()) - in_use(files)
        return [f'process {p}' for p in self.relatives(True)] + sorted(files)

    def close(self):
        if self.child.poll() is None:
            self.kill_all()
        self.child.stdout.close()
        self.child.stderr.close()


def litter():
    """Files that could be ours; others of this machine come and go in these folders."""
    return {f'{d}/{n}' for d in ('/dev/shm', '/tmp', '/var/tmp')
            for n in os.listdir(d) if re.match(r'fathom|fi_|ofi', n)}


def in_use(files):
    """Those of them that a living process has mapped: of a job that another test runs."""
    used = set()
    for name in os.listdir('/proc') if files else []:
        try:
            with open(f'/proc/{name}/maps') as f:
                maps = f.read()
        except OSError:
            continue
        used |= {file for file in files if file in maps}
    return used


class Test(unittest.TestCase):
    """A test whose jobs are ended with it, and must leave nothing behind."""

    may_leave = False

    def setUp(self):
        self.jobs = []

    def tearDown(self):
        left = [] if self.may_leave else [x for j in self.jobs for x in j.left()]
        for j in self.jobs:
            j.kill_all()
            j.close()
        self.assertEqual(left, [])

    def start(self, *command, **how):
        job = Job(*command, **how)
        self.jobs.append(job)
        return job

    def mpiexec(self, *arguments, **how):
        return self.start(MPIEXEC, *arguments, **how)

    def actor(self, n, *words, **how):
        return self.mpiexec('-n', n, ACTOR, *words, **how)

    def ends(self, job, status):
        got = job.end()
        self.assertEqual(got, status, f'out:\n{job.out}\nerr:\n{job.err}')


def main():
    """usage: test_X.py MPIEXEC ACTOR FATHOM [unittest arguments]"""
    import harness
    harness.MPIEXEC, harness.ACTOR, harness.FATHOM = (os.path.abspath(a) for a in sys.argv[1:4])
    module = sys.modules['__main__']
    done = unittest.main(module=module, argv=[sys.argv[0]] + sys.argv[4:], verbosity=1, exit=False).result
    if done.testsRun and len(done.skipped) == done.testsRun:
        print('skipped: ' + done.skipped[0][1])
        sys.exit(77)
    sys.exit(not done.wasSuccessful())
