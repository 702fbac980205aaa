#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How jobs end: exit status, what is said, what is left."""
import fcntl
import os
import re
import signal
import sys
import tempfile
import termios
import time

import harness
from harness import Test, is_alive, until

# What the ranks of a job of 3 do -> exit status, what mpiexec says.
ROWS = [
    ('init barrier finalize', 0, r'^$'),
    ('init finalize', 0, r'^$'),
    ('exit:0', 0, r'^$'),
    ('init barrier 1:abort:7 wait', 7, r'rank 1 \(pid \d+, host \S+, \S+\) aborted the job'),
    ('init barrier 1:abort:0 wait', 1, r'rank 1 \(pid \d+, host \S+, \S+\) aborted the job'),
    ('init barrier 1:abort:256 wait', 1, r'MPI_Abort was called on MPI_COMM_WORLD'),
    ('1:abort:7 wait', 7, r'MPI_Abort was called before MPI_Init with error code 7'),
    ('init barrier finalize 1:abort:7 wait', 7, r'MPI_Abort was called after MPI_Finalize with error code 7'),
    ('init 1:kill:9 barrier finalize', 137, r'rank 1 \(pid \d+, host \S+, \S+\) was killed by '
     r'signal 9 \(Killed\) between MPI_Init and MPI_Finalize'),
    ('init barrier 1:kill:11 wait', 139, r'rank 1 .* signal 11 \(Segmentation fault\)'),
    ('init 1:exit:3 barrier finalize', 3, r'rank 1 .* status 3 without calling MPI_Finalize'),
    ('init 1:exit:0 barrier finalize', 1, r'rank 1 .* status 0 without calling MPI_Finalize'),
    ('1:exit:0 init barrier finalize', 1, r'rank 1 .* status 0 without calling MPI_Init'),
    ('1:exit:4 init barrier finalize', 4, r'rank 1 .* status 4 without calling MPI_Init'),
    ('1:kill:9 init barrier finalize', 137, r'rank 1 .* signal 9 \(Killed\) before MPI_Init'),
    ('init barrier finalize 1:exit:5', 5, r'^$'),
    ('init barrier finalize 1:kill:6', 134, r'rank 1 .* signal 6 .* after MPI_Finalize'),
    ('0:exit:0 1:exit:6 2:exit:0', 6, r'^$'),
]


def maps_of(pid):
    """What a process has mapped; nothing when it has ended."""
    try:
        with open(f'/proc/{pid}/maps') as f:
            return f.read()
    except OSError:
        return ''


def where(test, pid):
    job = test.start(harness.FATHOM, 'where', pid)
    job.end()
    return job.out


class End(Test):
    def test_table(self):
        for words, status, text in ROWS:
            with self.subTest(words):
                job = self.actor(3, *words.split())
                self.ends(job, status)
                self.assertRegex(job.err, text)
                self.assertEqual(job.left(), [])

    def test_stray_words_in_the_job_table(self):
        """They end the rank that writes them, or are not believed; mpiexec neither crashes nor hangs."""
        job = self.actor(3, 'init', 'barrier', '1:scribble:head', 'barrier', 'finalize')
        self.ends(job, 139)
        self.assertRegex(job.err, r'rank 1 .* signal 11')
        for words in '1:scribble:slots exit:0', 'wait':
            job = self.actor(3, 'init', 'barrier', 'say:here', 'barrier', *f'1:scribble:slots {words}'.split())
            job.expect('here', 3)
            if words == 'wait':
                os.kill(job.pid, signal.SIGTERM)
            self.assertIn(job.end(), (1, 143), job.err)
            self.assertNotIn('Segmentation', job.err)

    def test_first_failure_counts(self):
        job = self.actor(3, 'init', 'barrier', '2:exit:9', 'barrier', 'finalize')
        self.ends(job, 9)

    def test_others_run_on_after_a_late_failure(self):
        job = self.actor(2, 'init', 'barrier', 'finalize', 'say:here', '0:exit:5', 'wait')
        pids = dict(job.expect(r'rank (\d) pid (\d+)', 2))
        # Gone from the list of processes: then mpiexec, which took it from there, knows of it.
        until(lambda: not os.path.exists(f'/proc/{pids["0"]}'), 'mpiexec has taken rank 0')
        self.assertTrue(is_alive(int(pids['1'])))
        os.kill(int(pids['1']), signal.SIGKILL)
        self.ends(job, 5)

    def test_dead_rank_ends_the_job_soon(self):
        job = self.actor(4, 'init', 'barrier', 'say:here', 'wait')
        pids = dict(job.expect(r'rank (\d) pid (\d+)', 4))
        os.kill(int(pids['2']), signal.SIGKILL)
        self.ends(job, 137)  # within the limit of a test; 30 ms when nobody else runs
        self.assertIn(f'rank 2 (pid {pids["2"]}', job.err)
        self.assertIn('terminating the other 3 ranks', job.err)

    def test_ranks_that_do_not_want_to_end(self):
        job = self.actor(3, 'ignore:15', 'init', 'barrier', 'say:here', '1:kill:9', 'wait')
        self.ends(job, 137)

    def test_stopped_rank(self):
        job = self.actor(2, 'init', 'barrier', 'say:here', 'wait')
        pids = dict(job.expect(r'rank (\d) pid (\d+)', 2))
        os.kill(int(pids['0']), signal.SIGSTOP)
        os.kill(int(pids['1']), signal.SIGKILL)
        self.ends(job, 137)

    def test_mpiexec_is_killed(self):
        job = self.actor(3, 'init', 'barrier', 'say:here', 'wait')
        job.expect('here', 3)
        os.kill(job.pid, signal.SIGKILL)
        self.ends(job, 137)

    def test_mpiexec_is_killed_with_a_shell_between(self):
        job = self.mpiexec('-n', 2, 'sh', '-c', f'{harness.ACTOR} init barrier say:here wait; :')
        job.expect('here', 2)
        until(lambda: len(job.relatives()) == 4, 'there are 4 processes')
        os.kill(job.pid, signal.SIGKILL)
        self.ends(job, 137)

    def test_mpiexec_is_killed_and_ranks_have_started_others(self):
        """Children of ranks that are no MPI programs; daemons live on."""
        for script, n_daemons in ('sleep 600 & wait', 0), ('setsid sleep 600 & wait', 2):
            with self.subTest(script):
                job = self.mpiexec('-n', 2, 'sh', '-c', f'echo here; {script}')
                job.expect('here', 2)
                until(lambda: len(job.relatives()) == 4 and n_daemons == sum(
                    os.getsid(p) == p for p in job.relatives()), 'there are 4 processes')
                os.kill(job.pid, signal.SIGKILL)
                self.ends(job, 137)
                until(lambda: len(job.relatives(True)) == n_daemons, 'the others have ended')
                job.kill_all()

    def test_mpiexec_is_killed_and_a_provider_has_files(self):
        """Those of libfabric's shm provider, which are named after the process."""
        job = self.actor(2, 'init', 'barrier', 'say:here', 'wait',
                         env={'FATHOM_TRANSPORT': 'ofi', 'FATHOM_OFI_PROVIDER': 'shm'})
        pids = [pid for _, pid in job.expect(r'rank (\d) pid (\d+)', 2)]

        def files():
            return [n for n in os.listdir('/dev/shm') if n.split(':')[0] in pids]
        self.assertTrue(files())
        os.kill(job.pid, signal.SIGKILL)
        self.ends(job, 137)
        until(lambda: not files(), 'they are removed')

    def test_what_ranks_have_started_ends_with_a_job_that_is_ended(self):
        for script, n_daemons in ('sleep 600; :', 0), ('setsid sleep 600 & wait', 2):
            for target, sig, status in ('mpiexec', signal.SIGTERM, 143), ('rank', signal.SIGKILL, 137):
                with self.subTest(script=script, target=target):
                    job = self.mpiexec('-n', 2, 'sh', '-c', f'echo here rank $FATHOM_RANK pid $$; {script}')
                    pids = dict(job.expect(r'rank (\d) pid (\d+)', 2))
                    until(lambda: len(job.relatives()) == 4 and n_daemons == sum(
                        os.getsid(p) == p for p in job.relatives()), 'there are 4 processes')
                    os.kill(job.pid if target == 'mpiexec' else int(pids['1']), sig)
                    self.ends(job, status)
                    until(lambda: len(job.relatives()) <= n_daemons, 'the others have ended')
                    self.assertEqual(len(job.relatives()), n_daemons)
                    job.kill_all()

    def test_abort_below_a_shell(self):
        job = self.mpiexec('-n', 2, 'sh', '-c',
                           f'{harness.ACTOR} init barrier 1:abort:8 wait; exit 0')
        self.ends(job, 8)

    def test_parent_that_closes_descriptors(self):
        shell = 'for i in 3 4 5 6 7 8 9; do eval "exec $i>&-"; done; exec "$@"'
        job = self.mpiexec('-n', 2, 'sh', '-c', shell, 'sh', harness.ACTOR, 'init', 'barrier',
                           'say:here', 'finalize')
        job.expect('here', 2)
        self.ends(job, 0)

    def test_programs_follow_each_other_in_one_place(self):
        """One after the other, if each calls MPI_Finalize; the page is that of the last one."""
        actor = f'{harness.ACTOR} init barrier who say:here barrier finalize'
        job = self.mpiexec('-n', 3, 'sh', '-c', f'{actor} && {actor} && {actor}')
        self.ends(job, 0)
        self.assertEqual(job.out.count('here 0 rank'), 9)
        for r in range(3):
            self.assertEqual(job.out.count(f'of {300 + r} rank {r} '), 3)
        job = self.mpiexec('-n', 1, 'sh', '-c', f'{harness.ACTOR} init; {harness.ACTOR} init finalize')
        self.assertNotEqual(job.end(), 0)
        self.assertIn('ended without MPI_Finalize: another MPI program can follow', job.err)

    def test_exec_after_finalize(self):
        """The second program has the same process id."""
        job = self.mpiexec('-n', 2, harness.ACTOR, 'init', 'barrier', 'finalize',
                           'exec:init barrier say:here finalize')
        self.ends(job, 0)
        self.assertEqual(job.out.count('here'), 2)

    def test_tools_before_the_program(self):
        """What only uses MPI_T is not the rank, whether it is there before, beside or as its parent."""
        job = self.mpiexec('-n', 2, 'sh', '-c', f'{harness.FATHOM} list mpit_handles >/dev/null; '
                           f'exec {harness.ACTOR} init barrier say:here finalize')
        self.ends(job, 0)
        self.assertEqual(job.out.count('here'), 2)
        job = self.mpiexec('-n', 2, harness.ACTOR, 'tool', 'run:init barrier say:here finalize')
        self.ends(job, 0)
        self.assertEqual(job.out.count('here'), 2)
        job = self.mpiexec('-n', 2, harness.ACTOR, 'tool', 'init', 'barrier', 'say:here', 'wait')
        job.expect('here', 2)
        where = self.start(harness.FATHOM, 'where', job.pid)
        self.ends(where, 0)
        self.assertEqual(where.out.count(' computing'), 2, where.out)
        job.kill_all()

    def test_program_started_by_a_rank_runs_alone(self):
        job = self.actor(2, 'init', 'barrier', 'nest', 'barrier', 'finalize')
        self.ends(job, 0)
        self.assertEqual(len(re.findall('nested 0', job.out)), 2)
        self.assertEqual(len(re.findall('nest 0 ', job.out)), 2)

    def test_forked_child_that_stays(self):
        job = self.actor(2, 'init', 'barrier', 'fork', 'finalize')
        self.ends(job, 0)
        until(lambda: len(job.relatives()) == 2, 'there are 2 processes')
        job.kill_all()

    def test_detached_child_does_not_hold_us(self):
        for label in ([], ['-l']):
            job = self.mpiexec('-n', 2, *label, 'sh', '-c', 'sleep 600 & echo started')
            self.ends(job, 0)
            until(lambda: len(job.relatives()) == 2, 'there are 2 processes')
            self.assertEqual(len(re.findall('started', job.out)), 2)
            job.kill_all()


class Signals(Test):
    def test_forwarded_as_they_are(self):
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
            with self.subTest(sig):
                job = self.actor(2, f'trap:{int(sig)}', 'say:here', 'wait')
                job.expect('here', 2)
                os.kill(job.pid, sig)
                job.expect(rf'got {int(sig)} rank', 2)
                os.kill(job.relatives()[0], signal.SIGKILL)
                self.ends(job, 137)

    def test_interrupt_ends_with_its_status(self):
        for sig, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            job = self.actor(2, 'init', 'barrier', 'say:here', 'wait')
            job.expect('here', 2)
            os.kill(job.pid, sig)
            self.ends(job, status)
            self.assertEqual(job.err, '')

    def test_interrupt_while_libfabric_starts(self):
        """PSM's library, which it loads, would have handlers of its own, and wait in them for ever."""
        job = self.actor(2, 'init', 'barrier', 'say:here', 'wait', env={'FATHOM_TRANSPORT': 'ofi'})

        def is_starting():
            job.read()
            return 'here' in job.out or any('libinfinipath' in maps_of(p) for p in job.relatives())
        until(is_starting, 'libfabric starts')
        if 'here' in job.out:
            self.skipTest('this libfabric has no PSM')
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)

    def fill(self, *command):
        """A job of `yes` whose reader has stopped to read: its ranks wait in write()."""
        job = self.start('sh', '-c', 'exec "$@" 2>&1', 'sh', harness.MPIEXEC, '-n', 2, *command, 'yes')

        def is_full():
            n = fcntl.ioctl(job.child.stdout, termios.FIONREAD, bytes(4))
            return int.from_bytes(n, sys.byteorder) > 50000 and len(job.relatives()) == 2 and all(
                harness.state_of(p) == 'S' for p in job.relatives())
        until(is_full, 'the pipe is full')
        return job

    def test_reader_that_takes_nothing(self):
        for label in ([], ['-l']):
            for sig in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
                with self.subTest(label=label, sig=sig):
                    job = self.fill(*label)
                    os.kill(job.pid, sig)
                    until(lambda: job.child.poll() is not None, 'mpiexec has ended')
                    self.ends(job, 128 + sig)

    def test_file_that_waits_for_its_reader(self):
        with tempfile.TemporaryDirectory() as d:
            os.mkfifo(d + '/1')
            job = self.mpiexec('-n', 2, '-outfile-pattern', d + '/%r', harness.ACTOR, 'wait')
            until(lambda: len(job.relatives()) == 1, 'rank 0 runs')
            os.kill(job.pid, signal.SIGTERM)
            self.ends(job, 143)

    def test_message_that_nobody_takes_yet(self):
        for label in ([], ['-l']):
            with self.subTest(label=label):
                job = self.fill(*label)
                os.kill(job.relatives()[0], signal.SIGKILL)
                until(lambda: not job.relatives(), 'all ranks have ended')
                self.assertIsNone(job.child.poll())
                self.ends(job, 137)
                self.assertRegex(job.out, r'rank \d .* was killed by signal 9')

    def test_stopped_ranks_end_on_request(self):
        for sig in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT:
            with self.subTest(sig):
                job = self.actor(2, 'init', 'barrier', 'say:here', 'wait')
                pids = [int(pid) for _, pid in job.expect(r'rank (\d) pid (\d+)', 2)]
                for pid in pids:
                    os.kill(pid, signal.SIGSTOP)
                until(lambda: all(harness.state_of(p) == 'T' for p in pids), 'both have stopped')
                os.kill(job.pid, sig)
                self.ends(job, 128 + sig)

    def test_ranks_that_ignore_a_request(self):
        job = self.mpiexec('-n', 2, '--grace', '0.2', harness.ACTOR, 'ignore:15', 'init', 'barrier', 'say:here', 'wait')
        job.expect('here', 2)
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)
        self.assertEqual(job.err, 'mpiexec: 2 ranks did not end after SIGTERM; sending SIGKILL\n')

    def test_parent_that_ignores_sigchld(self):
        """As perl and some CI runners do; the kernel would then reap the ranks unseen."""
        for words, status in ('exit:0', 0), ('exit:3', 3), ('init 1:kill:9 barrier', 137):
            with self.subTest(words):
                job = self.start('env', '--ignore-signal=CHLD', harness.MPIEXEC, '-n', 2, harness.ACTOR,
                                 *words.split())
                self.ends(job, status)

    def test_second_interrupt_kills(self):
        job = self.actor(2, 'ignore:2', 'say:here', 'wait')
        job.expect('here', 2)
        os.kill(job.pid, signal.SIGINT)
        time_out = time.monotonic() + 2  # one that comes within 0.2 s is the same one; mpiexec may be late
        until(lambda: time.monotonic() > time_out, 'the first interrupt is past')
        until(lambda: len(job.relatives()) == 2, 'there are 2 processes')
        os.kill(job.pid, signal.SIGINT)
        self.ends(job, 130)

    def test_stop_and_continue(self):
        job = self.actor(2, 'say:here', 'wait')
        job.expect('here', 2)
        os.kill(job.pid, signal.SIGTSTP)
        until(lambda: harness.state_of(job.pid) == 'T', 'mpiexec has stopped')
        until(lambda: all(harness.state_of(p) == 'T' for p in job.relatives()), 'all have stopped')
        os.kill(job.pid, signal.SIGCONT)
        until(lambda: not any(harness.state_of(p) == 'T' for p in job.relatives()), 'all go on')
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)


class Time(Test):
    def test_timeout(self):
        for arguments, env in ((['--timeout', '0.5'], {}), ([], {'MPIEXEC_TIMEOUT': '0.5'})):
            job = self.mpiexec('-n', 2, *arguments, harness.ACTOR, 'init', '0:wait', 'barrier',
                               env=env)
            self.ends(job, 124)
            self.assertIn('the timeout of 0.5 s has expired', job.err)
            self.assertRegex(job.err, r'rank 0 \(pid \d+\) ')
            self.assertRegex(job.err, r'rank 1 \(pid \d+\) ')

    def test_timeout_names_the_call(self):
        for seconds in '3', '20':  # the machine may have stood still for the first three
            job = self.mpiexec('-n', 2, '--timeout', seconds, harness.ACTOR, 'init', '0:wait', 'barrier')
            self.ends(job, 124)
            if 'MPI_Barrier' in job.err:
                break
        self.assertRegex(job.err, r'rank 0 \(pid \d+\) is computing')
        self.assertRegex(job.err, r'rank 1 \(pid \d+\) has been blocked in MPI_Barrier with rank 0')

    def test_timeout_names_finalize(self):
        job = self.mpiexec('-n', 2, harness.ACTOR, 'init', 'barrier', '0:wait', 'finalize')
        until(lambda: 'MPI_Finalize' in where(self, job.pid), 'rank 1 is blocked in MPI_Finalize')
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)
        for seconds in '2', '20':
            job = self.mpiexec('-n', 2, '--timeout', seconds, harness.ACTOR, 'init', 'barrier', '0:wait', 'finalize')
            self.ends(job, 124)
            if 'MPI_Finalize' in job.err:
                break
        self.assertRegex(job.err, r'rank 1 \(pid \d+\) has been blocked in MPI_Finalize for')


if __name__ == '__main__':
    harness.main()
