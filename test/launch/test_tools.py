#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The fathom command: looking at jobs from outside, while they run and after they died."""
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

import harness
from harness import Test


class Outside(Test):
    def fathom(self, *arguments, status=0):
        job = self.start(harness.FATHOM, *arguments)
        self.ends(job, status)
        return job.out + job.err

    def blocked_job(self):
        """Rank 0 stays away from a barrier that rank 1 waits in."""
        job = self.actor(2, 'init', 'barrier', 'say:here', '0:wait', 'barrier', 'finalize')
        pids = dict(job.expect(r'rank (\d) pid (\d+)', 2))
        harness.until(lambda: 'blocked' in self.fathom('where', job.pid), 'rank 1 is blocked')
        return job, pids

    def test_where(self):
        job, pids = self.blocked_job()
        text = self.fathom('where', job.pid)
        self.assertRegex(text, rf'\n +0 +{pids["0"]} +computing ')
        self.assertRegex(text, rf'\n +1 +{pids["1"]} +blocked .*'
                         r'MPI_Barrier with rank 0, tag \d+ on MPI_COMM_WORLD')
        self.assertRegex(self.fathom('where', pids['1']), 'MPI_Barrier')
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)

    def test_top(self):
        job, _ = self.blocked_job()
        text = self.fathom('top', '-d', '0.1', '-n', '2', job.pid)
        self.assertEqual(len(re.findall('rank +pid', text)), 2)
        self.assertRegex(text, r'blocked .* 100%  MPI_Barrier')
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)

    def terminal(self, rows, columns):
        try:
            master, slave = os.openpty()
        except OSError as why:
            self.skipTest(f'there are no terminals here: {why}')
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('4H', rows, columns, 0, 0))
        return master, slave

    def test_top_stays_on_its_screen(self):
        terminals = [(r, c, *self.terminal(r, c)) for r, c in ((8, 60), (40, 120))]
        job = self.actor(12, 'init', 'say:here', 'wait')
        job.expect('here', 12)
        for rows, columns, master, slave in terminals:
            subprocess.run([harness.FATHOM, 'top', '-n', '1', '-d', '0.01', str(job.pid)], stdout=slave,
                           check=True)
            os.write(slave, b'\0')  # the end: what was written comes in any number of pieces
            text = b''
            while not text.endswith(b'\0'):
                text += os.read(master, 1 << 16)
            lines = text[:-1].decode().split('\r\n')
            self.assertTrue(lines[0].startswith('\033[H\033[Jrank '), lines)
            lines[0] = lines[0][6:]
            self.assertEqual(lines.pop(), '')
            self.assertLess(len(lines), rows)
            self.assertLessEqual(max(len(line) for line in lines), columns)
            self.assertRegex(lines[-1], '^and 7 more ranks$' if rows == 8 else r'^  11 +\d+  .*\d%  .*$')
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)

    def test_top_ends_where_nobody_sees_it(self):
        job = self.actor(2, 'init', 'say:here', 'wait')
        job.expect('here', 2)
        full = self.start('sh', '-c', f'{harness.FATHOM} top -d 0.01 {job.pid} >/dev/full')
        self.ends(full, 1)
        self.assertIn('cannot write', full.err)
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)

    def test_list_of_a_job(self):
        job = self.mpiexec('-n', 2, '--set', 'p2p_eager_limit=123', harness.ACTOR, 'init',
                           'barrier', 'say:here', 'wait')
        job.expect('here', 2)
        data = json.loads(self.fathom('list', '--json', '--job', job.pid))
        cvars = {v['name']: v for v in data['cvars']}
        self.assertEqual(cvars['p2p_eager_limit']['value'], 123)
        self.assertEqual(cvars['p2p_eager_limit']['source'], 'mpiexec')
        pvars = {(v['name'], v['class']): v for v in data['pvars']}
        self.assertGreater(pvars['progress_polls', 'counter']['value'], 0)
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)

    def test_list_says_whose(self):
        job, pids = self.blocked_job()
        for pid, rank in (job.pid, 0), (pids['0'], 0), (pids['1'], 1):
            self.assertRegex(self.fathom('list', '--job', pid, 'p2p_peers'),
                             rf'^Values of process {pids[str(rank)]}, rank {rank} of 2, actor on '
                             r'\S+\n\nPerformance variables\n  p2p_peers = 1 ')
        self.assertNotIn('Values of', self.fathom('list', 'p2p_peers'))
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)
        job = self.actor(2, 'say:here', 'wait')
        job.expect('here', 2)
        self.assertIn('rank 0 has not called MPI yet',
                      self.fathom('list', '--job', job.pid, status=1))
        os.kill(job.pid, signal.SIGTERM)
        self.ends(job, 143)

    def test_pages_that_cannot_be_read(self):
        """This process owns a page as a program would that has another version, or went wrong."""
        for begin, seals, text in [
                (b'FTMPAGE1\x63\0\0\0', True, 'rank 0 runs another version of Fathom: its page is '
                 'of version 99, this command reads version '),
                (b'FTMPAGE9', True, 'the shared page of rank 0 is corrupt'),
                (b'FTMPAGE1\x63\0\0\0', False, 'is neither a Fathom mpiexec')]: # it may become shorter
            with self.subTest(text):
                fd = os.memfd_create('fathom-page-0', os.MFD_ALLOW_SEALING)
                os.pwrite(fd, begin.ljust(8192, b'\0'), 0)
                try:
                    if seals:
                        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
                    for command in ['where'], ['list', '--job'], ['top']:
                        self.assertIn(text, self.fathom(*command, os.getpid(), status=1))
                finally:
                    os.close(fd)

    def test_program_on_its_own(self):
        job = self.start(harness.ACTOR, 'init', 'say:here', 'wait')
        job.expect('here')
        self.assertRegex(self.fathom('where', job.pid), rf' 0 +{job.pid} +computing')
        os.kill(job.pid, signal.SIGKILL)
        self.ends(job, 137)

    def test_several_jobs(self):
        """The jobs are named by their launchers, or by themselves where they have none."""
        job, pids = self.blocked_job()
        alone = self.start(harness.ACTOR, 'init', 'say:here', 'wait')
        alone.expect('here')
        text = self.fathom('where', status=1)
        self.assertRegex(text, r'^fathom: several jobs are running, name one: \d+( \d+)+\n$')
        named = re.findall(r'\d+', text)
        self.assertEqual(len(named), len(set(named)))
        self.assertIn(str(job.pid), named)
        self.assertIn(str(alone.pid), named)
        self.assertFalse(set(pids.values()) & set(named))
        for one, status in (job, signal.SIGTERM), (alone, signal.SIGKILL):
            os.kill(one.pid, status)
            self.ends(one, 128 + status)

    @unittest.skipUnless(os.geteuid() == 0, 'only root can start a process of another user')
    def test_jobs_of_other_users(self):
        """Root finds only its own jobs, unless another one is named."""
        ready, child_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setuid(65534)
            fd = os.memfd_create('fathom-page', os.MFD_ALLOW_SEALING)
            os.pwrite(fd, b'FTMPAGE1\x63\0\0\0'.ljust(8192, b'\0'), 0)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
            os.write(child_end, b'x')
            signal.pause()
        try:
            os.read(ready, 1)
            for command in ['where'], ['top', '-n', '1']:
                job = self.start(harness.FATHOM, *command)
                job.end()
                self.assertNotIn('another version', job.out + job.err)
                self.assertNotIn(str(pid), re.findall(r'\d+', job.out + job.err))
            self.assertIn('another version', self.fathom('where', pid, status=1))
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(ready)
            os.close(child_end)

    def test_fifo_that_is_named_as_a_page(self):
        """In a mount namespace a user may give any name to a file; opening it must not block."""
        space = ['unshare', '--map-root-user', '--mount']
        if subprocess.run([*space, 'true'], stderr=subprocess.DEVNULL).returncode:
            self.skipTest('this user may not make a mount namespace')
        with tempfile.TemporaryDirectory() as d:
            job = self.start(*space, 'sh', '-c', f'mount -t tmpfs none {d} && mkfifo {d}/memfd:fathom-page-0 && '
                             f'exec {sys.executable} -c "import os, signal; '
                             f"os.open('{d}/memfd:fathom-page-0', os.O_RDONLY | os.O_NONBLOCK); "
                             f"os.system('umount -l {d}'); print('here', flush=True); signal.pause()\"")
            job.expect('here')
            self.assertIn('/memfd:fathom-page-0', [os.readlink(f'/proc/{job.pid}/fd/{fd}')
                                                   for fd in os.listdir(f'/proc/{job.pid}/fd')])
            self.assertIn('is neither a Fathom mpiexec', self.fathom('where', job.pid, status=1))
            os.kill(job.pid, signal.SIGKILL)
            self.ends(job, 137)

    def test_the_only_job(self):
        """In a space of process numbers of its own, where no other test's jobs are."""
        space = ['unshare', '--map-root-user', '--pid', '--fork', '--mount-proc']
        if subprocess.run([*space, 'true'], stderr=subprocess.DEVNULL).returncode:
            self.skipTest('this user may not make one')
        with tempfile.TemporaryDirectory() as d:
            job = self.start(*space, 'sh', '-c', f"""
                {harness.FATHOM} where 2>&1; echo "status $?"
                {harness.MPIEXEC} -n 2 {harness.ACTOR} init barrier say:here wait >{d}/out & mpiexec=$!
                until [ "$(grep -c here {d}/out 2>/dev/null)" = 2 ]; do :; done
                {harness.FATHOM} where 2>&1; echo "status $?"; kill $mpiexec; wait""")
            self.ends(job, 0)
        self.assertRegex(job.out, r'(?s)^fathom: no job of this user is running\nstatus 1\n'
                         r'rank .*\n   0 +\d+  .*\n   1 +\d+  computing '
                         r'.*\nstatus 0\n$')

    def test_refused(self):
        self.assertIn('is neither a Fathom mpiexec', self.fathom('where', os.getpid(), status=1))
        self.assertIn('no such process', self.fathom('where', 4194304, status=1))
        for word in 'here', '1x', '', '-1', '0', '4294967297':
            for command in ['where'], ['top', '-n', '1', '--'], ['list', '--job']:
                self.assertIn('usage', self.fathom(*command, word, status=2))
        self.assertIn('usage', self.fathom('top', '-d', '0', status=2))
        self.assertIn('usage', self.fathom('top', '-n', 'two', status=2))
        self.assertIn('unknown command "wear"', self.fathom('wear', status=2))
        self.assertIn('usage', self.fathom(status=2))


class Stat(Test):
    def stat(self, *arguments, status=0):
        with tempfile.TemporaryDirectory() as d:
            job = self.start(harness.FATHOM, 'stat', '--json', '-o', d + '/out', *arguments)
            self.ends(job, status)
            with open(d + '/out') as f:
                return json.load(f), job

    def test_counts(self):
        data, _ = self.stat(harness.MPIEXEC, '-n', 3, harness.ACTOR, 'init', 'barrier', 'barrier',
                            'finalize')
        self.assertEqual(data['exit_status'], 0)
        self.assertEqual([r['rank'] for r in data['ranks']], [0, 1, 2])
        for r in data['ranks']:
            self.assertEqual(r['state'], 'finalized')
            self.assertGreater(r['pvars']['progress_polls'], 0)
            self.assertGreater(r['pvars']['runtime_init_time'], 0)

    def test_fallbacks(self):
        """Ranks of a pair that cannot wake each other through /proc talk through libfabric."""
        if subprocess.run(['unshare', '-U', 'true'], capture_output=True).returncode != 0:
            self.skipTest('no user namespaces here')
        data, _ = self.stat('env', 'FATHOM_TRANSPORT_CLIQUES=2', harness.MPIEXEC, '-n', 4, 'unshare', '-U',
                            harness.ACTOR, 'init', 'talk', 'finalize')
        for r in data['ranks']:
            self.assertEqual(r['pvars']['runtime_fallbacks'], 1)

    def test_after_a_crash(self):
        data, job = self.stat(harness.MPIEXEC, '-n', 3, harness.ACTOR, 'init', 'barrier', 'barrier',
                              '1:kill:9', 'wait', status=137)
        self.assertEqual(data['exit_status'], 137)
        self.assertIn('was killed by signal 9', job.err)
        for r in data['ranks']:
            self.assertEqual(r['state'], 'dead')
            self.assertGreater(r['pvars']['progress_polls'], 0)
            names = [o['name'] for o in r['objects']]
            self.assertIn('MPI_COMM_WORLD', names)
            world = r['objects'][names.index('MPI_COMM_WORLD')]
            self.assertEqual(world['members'], 3)
            self.assertEqual(world['comm_collectives'], 2)

    def name_of(self, pid):
        with open(f'/proc/{pid}/comm') as f:
            return f.read().strip()

    def test_mpiexec_is_killed_too(self):
        with tempfile.TemporaryDirectory() as d:
            job = self.start(harness.FATHOM, 'stat', '--json', '-o', d + '/out', harness.MPIEXEC,
                             '-n', 2, harness.ACTOR, 'init', 'barrier', 'say:here', 'wait')
            job.expect('here', 2)
            for pid in [p for p in job.relatives() if self.name_of(p) == 'mpiexec']:
                os.kill(pid, signal.SIGKILL)
            self.ends(job, 137)
            with open(d + '/out') as f:
                self.assertEqual(len(json.load(f)['ranks']), 2)

    def test_signals_reach_the_command(self):
        for sig in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT:
            with self.subTest(sig):
                job = self.start(harness.FATHOM, 'stat', harness.MPIEXEC, '-n', 2, harness.ACTOR,
                                 'init', 'barrier', 'say:here', 'wait')
                job.expect('here', 2)
                os.kill(job.pid, sig)
                self.ends(job, 128 + sig)
                self.assertIn(f'exit status {128 + sig}\n', job.err)

    def test_table(self):
        job = self.start(harness.FATHOM, 'stat', harness.MPIEXEC, '-n', 2, harness.ACTOR, 'init',
                         'barrier', 'finalize')
        self.ends(job, 0)
        self.assertRegex(job.err, r'fathom stat: actor, 2 ranks on \S+, .*, exit status 0')
        self.assertRegex(job.err, r'rank 0 +rank 1 +total')
        self.assertRegex(job.err, r'messages sent +[\d,]+ +[\d,]+ +[\d,]+')
        self.assertRegex(job.err, r'collectives, by algorithm\n  barrier \w+ +1 +1 +2\n')
        job = self.start(harness.FATHOM, 'stat', '--all', harness.MPIEXEC, '-n', 2, harness.ACTOR,
                         'init', 'barrier', 'finalize')
        self.ends(job, 0)
        self.assertRegex(job.err, r'progress_polls +[\d,]+ +[\d,]+ +[\d,]+')

    def test_table_that_nobody_takes(self):
        job = self.start(harness.FATHOM, 'stat', 'sh', '-c', 'yes | head -c 65536 >&2')
        fcntl.fcntl(job.child.stderr, 1031, 65536) # F_SETPIPE_SZ
        harness.until(lambda: fcntl.ioctl(job.child.stderr, termios.FIONREAD, bytes(4)) ==
                      struct.pack('i', 65536), 'the pipe is full')

        def blocks():
            with open(f'/proc/{job.pid}/status') as f:
                return int(re.search(r'SigBlk:\s*(\w+)', f.read())[1], 16)
        harness.until(lambda: not blocks() >> (signal.SIGTERM - 1) & 1, 'it looks at no signal more')
        os.kill(job.pid, signal.SIGTERM)
        harness.until(lambda: job.child.poll() is not None, 'it has ended')
        self.ends(job, 143)

    def test_table_that_cannot_be_written(self):
        told = 'fathom: cannot write /dev/full: No space left on device\n'
        for options, command, status, err in [
                ('-o /dev/full', 'true', 1, told), ('--json -o /dev/full', 'true', 1, told),
                ('-o /dev/full', 'sh -c "exit 3"', 3, told), ('', 'true 2>/dev/full', 1, '')]:
            with self.subTest(options + command):
                job = self.start('sh', '-c', f'{harness.FATHOM} stat {options} {command}')
                self.ends(job, status)
                self.assertEqual(job.err, err)

    def test_totals_are_sums(self):
        job = self.start(harness.FATHOM, 'stat', '--all', harness.MPIEXEC, '-n', 3, harness.ACTOR,
                         'init', 'barrier', 'finalize')
        self.ends(job, 0)
        found = re.search(r'progress_polls +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)', job.err)
        n = [int(x.replace(',', '')) for x in found.groups()]
        self.assertEqual(sum(n[:3]), n[3])

    def test_shares_and_lows(self):
        steps = ['init', 'barrier', 'finalize']
        data, _ = self.stat(harness.MPIEXEC, '-n', 2, '--set', 'coll_shm_comms=3',
                            '--set', 'coll_shm=always', '--set', 'coll_shm_after=0',
                            '--set', 'p2p_rts_window=77', harness.ACTOR, *steps[:2], '0:kill:9',
                            'wait', status=137)
        for r in data['ranks']:
            self.assertIsInstance(r['pvars']['p2p_unexpected_utilization'], float)
            self.assertEqual(r['pvars']['coll_shm_utilization'], 1 / 3)
            self.assertEqual(r['pvars']['p2p_rts_room_low'], 77)
            self.assertEqual(r['pvars']['mpit_cvar_last'], 0)
            world = [o for o in r['objects'] if o['name'] == 'MPI_COMM_WORLD'][0]
            self.assertEqual(world['comm_id'], world['id'])
            self.assertEqual(world['comm_context'], 0)
        job = self.start(harness.FATHOM, 'stat', '--all', harness.MPIEXEC, '-n', 2, '--set',
                         'comm_limit=8', harness.ACTOR, *steps)
        self.ends(job, 0)
        self.assertRegex(job.err, r'\nmpit_event_queue_free_low +1,024 +1,024 +1,024 min\n')

    def test_program_on_its_own(self):
        data, _ = self.stat(harness.ACTOR, 'init', 'barrier', 'finalize')
        self.assertEqual(len(data['ranks']), 1)
        self.assertGreater(data['ranks'][0]['pvars']['runtime_init_time'], 0)

    def test_command_that_is_no_mpi_program(self):
        data, _ = self.stat('sh', '-c', 'exit 3', status=3)
        self.assertEqual(data['ranks'], [])
        job = self.start(harness.FATHOM, 'stat', harness.MPIEXEC, '-n', 2, 'true')
        self.ends(job, 0)
        self.assertIn('no rank has called MPI_Init', job.err)
        job = self.start(harness.FATHOM, 'stat', 'no-such-command')
        self.ends(job, 127)


class Alone(Test):
    def fathom(self, *arguments):
        job = self.start(harness.FATHOM, *arguments)
        self.ends(job, 0)
        self.assertEqual(job.err, '')
        return job.out

    def test_list(self):
        text = self.fathom('list', 'p2p_eager_limit')
        self.assertRegex(text, r'p2p_eager_limit = [\d,]+ bytes +\(default; local\)\n +Bytes up to')
        self.assertNotIn('Performance variables', text)
        self.assertTrue(self.fathom('list', 'progress_polls').startswith('Performance variables\n'))
        job = self.start(harness.FATHOM, 'list', 'nothing_is_called_so')
        self.ends(job, 1)
        self.assertEqual(job.out, '')

    def test_list_shows_sources(self):
        job = self.start(harness.FATHOM, 'list', '--json', 'p2p_eager_limit',
                         env={'FATHOM_P2P_EAGER_LIMIT': '99'})
        self.ends(job, 0)
        (v,) = [c for c in json.loads(job.out)['cvars'] if c['name'] == 'p2p_eager_limit']
        self.assertEqual((v['value'], v['source']), (99, 'environment'))

    def test_list_tells_of_unknown_names(self):
        """Whatever names them; values that make no sense have been told before."""
        with tempfile.TemporaryDirectory() as d:
            os.mkdir(d + '/fathom')
            for name in ('system.conf', 'fathom/fathom.conf', 'named.conf'):
                with open(f'{d}/{name}', 'w') as f:
                    f.write('# a comment\np2p_eager_limitt = 5\nnothing_is_called_so = 1\n')
            job = self.start(harness.FATHOM, 'list', 'p2p_eager_limit', env={
                'FATHOM_SYSTEM_PARAM_FILE': d + '/system.conf', 'XDG_CONFIG_HOME': d,
                'FATHOM_PARAM_FILE': d + '/named.conf', 'FATHOM_P2P_EAGER_LIMITT': '6'})
            self.ends(job, 0)
            self.assertIn('p2p_eager_limit = 16,384 bytes  (default;', job.out)
            for name in ('system.conf', 'fathom/fathom.conf', 'named.conf'):
                self.assertIn(f'{d}/{name}:2: unknown variable p2p_eager_limitt; did you mean '
                              'p2p_eager_limit?\n', job.err)
                self.assertIn(f'{d}/{name}:3: unknown variable nothing_is_called_so\n', job.err)
            self.assertIn('environment: unknown variable FATHOM_P2P_EAGER_LIMITT; did you mean '
                          'FATHOM_P2P_EAGER_LIMIT?\n', job.err)

    def test_renamed_variables(self):
        """The old name of a variable is answered with its new one, wherever it is given."""
        for old, new in (('mpit_event_queue', 'mpit_event_queue_len'),
                         ('mpit_events_waited', 'mpit_events_deferred')):
            job = self.start(harness.FATHOM, 'list', old)
            self.ends(job, 0)
            self.assertEqual(job.err, f'fathom: {old} was renamed to {new}\n')
            self.assertRegex(job.out, rf'\n  {new}\b')
        job = self.start(harness.MPIEXEC, '-n', '1', '--set', 'mpit_event_queue=99',
                         harness.FATHOM, 'list', 'mpit_event_queue_len',
                         env={'FATHOM_MPIT_EVENT_QUEUE': '77'})
        self.ends(job, 0)
        self.assertIn('mpiexec: ignored mpit_event_queue: it was renamed to mpit_event_queue_len\n',
                      job.err)
        self.assertIn('environment: ignored FATHOM_MPIT_EVENT_QUEUE: it was renamed to '
                      'FATHOM_MPIT_EVENT_QUEUE_LEN\n', job.err)
        self.assertIn('mpit_event_queue_len = 1,024 events  (default;', job.out)

    def test_unreadable_home(self):
        """Not a word: a daemon has HOME=/dev/null, sudo may leave that of another user."""
        job = self.start(harness.FATHOM, 'list', 'p2p_eager_limit', env={'HOME': '/dev/null', 'XDG_CONFIG_HOME': ''})
        self.ends(job, 0)
        self.assertEqual(job.err, '')
        with tempfile.TemporaryDirectory() as d:
            os.makedirs(d + '/.config/fathom/fathom.conf')
            job = self.start(harness.FATHOM, 'list', 'p2p_eager_limit', env={'HOME': d, 'XDG_CONFIG_HOME': ''})
            self.ends(job, 0)
            self.assertIn(f'parameter file {d}/.config/fathom/fathom.conf: Is a directory', job.err)

    def test_list_is_complete(self):
        data = json.loads(self.fathom('list', '--json'))
        for v in data['cvars'] + data['pvars']:
            self.assertTrue(v['description'].strip(), v)
        self.assertGreater(len(data['cvars']), 10)
        self.assertGreater(len(data['pvars']), 50)
        for e in data['events']:
            self.assertTrue(e['description'].strip() and e['name'], e)
        self.assertGreaterEqual(len(data['events']), 16)
        (e,) = [e for e in data['events'] if e['name'] == 'comm_created_event']
        self.assertEqual(e['elements'], ['id', 'context', 'size'])
        text = self.fathom('list', 'comm_created_event')
        self.assertRegex(text, r'comm_created_event +\(id, context, size\)\n +A communicator')

    def test_api(self):
        last = self.fathom('api').splitlines()[-1]
        built, total = re.fullmatch(r'(\d+) of (\d+) implemented', last).groups()
        self.assertEqual(int(total), 664)
        missing = self.fathom('api', '--missing').splitlines()[:-1]
        self.assertEqual(int(built) + len(missing), 664)

    def test_versions(self):
        self.assertRegex(self.fathom('info'), r'^Fathom \S+, MPI 5\.0')
        self.assertRegex(self.fathom('--version'), r'^fathom \d')
        self.assertIn('usage', self.fathom('--help'))

    def test_help_of_each_command(self):
        for line in self.fathom('--help').splitlines():
            if line.startswith('  '):
                name, what = line.split()[0], line.split('   ')[-1].strip()
                self.assertRegex(self.fathom(name, '--help'), rf'^usage: fathom {name}[ \n]')
                self.assertIn(what, self.fathom(name, '-h'))

    def test_full_disk(self):
        for arguments in ('list', 'api', 'info', '--version'):
            job = self.start('sh', '-c', f'{harness.FATHOM} {arguments} >/dev/full')
            self.ends(job, 1)
            self.assertIn('No space left', job.err)
        self.ends(self.start('sh', '-c', f'{harness.FATHOM} list >&-'), 0)


if __name__ == '__main__':
    harness.main()
