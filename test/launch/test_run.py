#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a job is started with: programs, environment, folders, input, output."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import Test

PRINT = 'echo "$FATHOM_RANK/$FATHOM_SIZE $*"'


def sh(script, *arguments):
    return ['sh', '-c', script, 'sh', *arguments]


class Start(Test):
    def lines(self, job, status=0):
        self.ends(job, status)
        return sorted(job.out.splitlines())

    def test_ranks(self):
        self.assertEqual(self.lines(self.mpiexec('-np', 3, *sh(PRINT, 'a b'))),
                         ['0/3 a b', '1/3 a b', '2/3 a b'])

    def test_libraries_are_loaded_on_need(self):
        """By what the dynamic linker says: starting is cheap since these stay away."""
        steps = [harness.ACTOR, 'init', 'barrier', 'finalize']
        for transport, n, is_wanted in (('auto', 2, False), ('auto', 1, False), ('ofi', 2, True)):
            with self.subTest(transport=transport, n=n):
                job = self.mpiexec('-n', n, *steps, env={'LD_DEBUG': 'files',
                                                         'FATHOM_TRANSPORT': transport})
                self.assertEqual(job.end(), 0)
                self.assertIn('libmpi_abi.so', job.err)
                self.assertEqual('libfabric.so' in job.err, is_wanted)
                self.assertNotRegex(job.err, r'lib(hwloc|pmix)\.so')
        job = self.start(*steps, env={'LD_DEBUG': 'files'})
        self.assertEqual(job.end(), 0)
        self.assertIn('libmpi_abi.so', job.err)
        self.assertNotRegex(job.err, r'lib(fabric|hwloc|pmix)\.so')
        job = self.mpiexec('-n', 1, '--bind-to', 'core', 'true', env={'LD_DEBUG': 'files'})
        self.assertEqual(job.end(), 0)
        self.assertIn('libhwloc.so', job.err)

    def test_namespaces(self):
        """Ranks in user namespaces of their own may not open each other's descriptors."""
        if subprocess.run(['unshare', '-U', 'true'], capture_output=True).returncode != 0:
            self.skipTest('no user namespaces here')
        self.lines(self.mpiexec('-n', 3, 'unshare', '-U', harness.ACTOR, 'init', 'talk', 'finalize'))

    def test_many_programs(self):
        job = self.mpiexec('-n', 1, *sh(PRINT, 'one'), ':', '-n', 2, *sh(PRINT, 'two'))
        self.assertEqual(self.lines(job), ['0/3 one', '1/3 two', '2/3 two'])

    def test_configuration_file(self):
        with tempfile.TemporaryDirectory() as d:
            with open(d + '/job', 'w') as f:
                f.write("# two programs\n-n 1 sh -c 'echo one $FATHOM_RANK'\n"
                        "-n 1 \\\n  sh -c 'echo two $FATHOM_RANK'\n")
            self.assertEqual(self.lines(self.mpiexec('-configfile', d + '/job')),
                             ['one 0', 'two 1'])

    def test_environment(self):
        show = sh('echo "$A|$B|$C|$D"')
        env = {'A': 'a', 'B': 'b', 'C': 'c'}
        for options, expected in [
                (['-env', 'D', 'x y'], 'a|b|c|x y'),
                (['-genv', 'A', 'z'], 'z|b|c|'),
                (['-genv', 'A', 'z', '-env', 'A', 'y'], 'y|b|c|'),
                (['-x', 'D=7', '-x', 'A'], 'a|b|c|7'),
                (['-envnone'], '|||'),
                (['-envnone', '-x', 'B'], '|b||'),
                (['-envlist', 'A,C'], 'a||c|'),
                (['-genvnone', '-env', 'D', 'd'], '|||d')]:
            with self.subTest(options):
                job = self.mpiexec('-n', 1, *options, '/bin/sh', *show[1:], env=env)
                self.assertEqual(self.lines(job), [expected])

    def test_folder(self):
        with tempfile.TemporaryDirectory() as d:
            with open(d + '/prog', 'w') as f:
                f.write('pwd\n')  # no "#!": the shell runs it, as execvp() has it
            os.chmod(d + '/prog', 0o755)
            here = os.path.realpath(d)
            self.assertEqual(self.lines(self.mpiexec('-wdir', d, 'pwd')), [here])
            self.assertEqual(self.lines(self.mpiexec('--wd', d, './prog')), [here])

    def test_setting_of_variables(self):
        job = self.mpiexec('-n', 1, '--set', 'p2p_eager_limit=77', '-mpit', 'p2p_rma_min=5',
                           harness.FATHOM, 'list', 'p2p')
        self.ends(job, 0)
        self.assertRegex(job.out, r'p2p_eager_limit = 77 bytes +\(mpiexec;')
        self.assertRegex(job.out, r'p2p_rma_min = 5 bytes +\(mpiexec;')

    @staticmethod
    def cpus(text):
        found = set()
        for part in text.split()[-1].split(','):
            lo, _, hi = part.partition('-')
            found |= set(range(int(lo), int(hi or lo) + 1))
        return found

    def core_of_first(self):
        """The processors of the first core that we may use, by the kernel's own account."""
        allowed = os.sched_getaffinity(0)
        try:
            with open('/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list' % min(allowed)) as f:
                return self.cpus(f.read()) & allowed
        except FileNotFoundError:
            return {min(allowed)}

    def test_binding(self):
        n_cpus = len(os.sched_getaffinity(0))
        show = sh('grep Cpus_allowed_list /proc/self/status')
        lines = self.lines(self.mpiexec('-n', 1, '--bind-to', 'hwthread', *show))
        self.assertRegex(lines[0], r'Cpus_allowed_list:\s+\d+$')
        lines = self.lines(self.mpiexec('-n', 1, '--bind-to', 'socket', *show))
        self.assertRegex(lines[0], r'Cpus_allowed_list:\s+\d+')
        job = self.mpiexec('-n', 1, '--bind-to', 'core', *show)
        self.assertEqual(self.cpus(self.lines(job)[0]), self.core_of_first())
        # A host of one core, which hwloc makes up for us.
        one_core = dict(os.environ, HWLOC_SYNTHETIC='core:1 pu:%d' % (max(os.sched_getaffinity(0)) + 1),
                        HWLOC_THISSYSTEM='1')
        job = self.mpiexec('-n', 1, '--bind-to', 'core', *show, env=one_core)
        self.assertEqual(self.cpus(self.lines(job)[0]), os.sched_getaffinity(0))
        job = self.mpiexec('-n', n_cpus + 1, '-bind-to', 'core', *show)
        self.assertEqual(len(set(self.lines(job))), 1)
        self.assertIn('more ranks', job.err)
        job = self.mpiexec('-n', 1, '--bind-to', 'none', '--report-bindings', *show)
        self.ends(job, 0)
        self.assertIn('is not bound', job.err)


class Input(Test):
    def give(self, text, *arguments):
        job = self.mpiexec(*arguments, stdin=subprocess.PIPE)
        with contextlib.suppress(BrokenPipeError):  # a job that reads nothing may be over by now
            with job.child.stdin as pipe:
                pipe.write(text.encode())
        self.ends(job, 0)
        return sorted(job.out.splitlines())

    def test_rank_0_gets_it(self):
        cat = sh('echo "$FATHOM_RANK:$(cat)"')
        self.assertEqual(self.give('x', '-n', 3, *cat), ['0:x', '1:', '2:'])
        self.assertEqual(self.give('x', '-n', 3, '--stdin', 2, *cat), ['0:', '1:', '2:x'])
        self.assertEqual(self.give('x', '-n', 2, '--stdin', 'none', *cat), ['0:', '1:'])

    def test_large_input(self):
        text = 'line\n' * 200000
        self.assertEqual(self.give(text, '-n', 2, *sh('wc -c')), ['0', str(len(text))])

    def test_closed_standard_descriptors(self):
        job = self.start('sh', '-c', f'exec {harness.MPIEXEC} -n 2 {harness.ACTOR} init barrier '
                         'finalize <&- >&- 2>&-')
        self.ends(job, 0)


class Output(Test):
    def test_labels(self):
        for option, expected in [
                ('-l', r'\[0\] out\n'), ('-prepend-rank', r'\[0\] out\n'),
                ('--tag-output', r'\[0\]<stdout>: out\n'),
                ('--timestamp-output', r'\d\d:\d\d:\d\d\.\d{3} out\n')]:
            job = self.mpiexec('-n', 1, option, 'echo', 'out')
            self.ends(job, 0)
            self.assertRegex(job.out, '^' + expected + '$')
        job = self.mpiexec('-n', 2, '-prepend-pattern', '<%r@%h> ', 'echo', 'out')
        self.ends(job, 0)
        self.assertRegex(job.out, r'<1@\S+> out\n')

    def test_streams_stay_apart(self):
        job = self.mpiexec('-n', 2, '-l', *sh('echo out; echo err >&2'))
        self.ends(job, 0)
        self.assertEqual(sorted(job.out.splitlines()), ['[0] out', '[1] out'])
        self.assertEqual(sorted(job.err.splitlines()), ['[0] err', '[1] err'])
        job = self.mpiexec('-n', 2, '-l', '--merge-stderr-to-stdout', *sh('echo err >&2'))
        self.ends(job, 0)
        self.assertEqual(sorted(job.out.splitlines()), ['[0] err', '[1] err'])

    def test_much_output_in_whole_lines(self):
        script = ('i=0; while [ $i -lt 4000 ]; do printf "%s-%0100d-%s\\n" $FATHOM_RANK $i '
                  '$FATHOM_RANK; i=$((i+1)); done')
        job = self.mpiexec('-n', 6, '-l', *sh(script))
        self.ends(job, 0)
        lines = job.out.splitlines()
        self.assertEqual(len(lines), 24000)
        for line in lines:
            self.assertRegex(line, r'^\[(\d)\] \1-\d{100}-\1$')

    def test_unfinished_lines(self):
        job = self.mpiexec('-n', 1, '-l', *sh('printf "question? "; read answer; echo done'),
                           stdin=subprocess.PIPE)
        job.expect(r'\[0\] question\? $')  # shown although no line has ended
        job.child.stdin.write(b'yes\n')
        job.child.stdin.close()
        self.ends(job, 0)
        self.assertEqual(job.out, '[0] question? done\n')
        job = self.mpiexec('-n', 2, '-l', *sh('printf end'))
        self.ends(job, 0)
        self.assertEqual(sorted(job.out.splitlines()), ['[0] end', '[1] end'])

    def test_long_lines(self):
        job = self.mpiexec('-n', 1, '-l', *sh('head -c 100000 /dev/zero | tr "\\0" x'))
        self.ends(job, 0)
        self.assertEqual(job.out, '[0] ' + 'x' * 100000 + '\n')

    def test_files(self):
        with tempfile.TemporaryDirectory() as d:
            job = self.mpiexec('-n', 2, '-outfile-pattern', d + '/out.%r', '-errfile-pattern',
                               d + '/err.%r', *sh('echo $FATHOM_RANK; echo e$FATHOM_RANK >&2'))
            self.ends(job, 0)
            self.assertEqual(job.out + job.err, '')
            for rank in (0, 1):
                with open(f'{d}/out.{rank}') as out, open(f'{d}/err.{rank}') as err:
                    self.assertEqual((out.read(), err.read()), (f'{rank}\n', f'e{rank}\n'))

    def test_reader_that_goes_away(self):
        """As of any program: it ends by SIGPIPE, and nothing is said."""
        for label, line in ('', 'y'), ('-l', r'\[\d\] y'):
            with self.subTest(label):
                job = self.start('sh', '-c', f'({harness.MPIEXEC} -n 2 {label} yes; echo $? >&2) '
                                 '| head -n 1')
                self.ends(job, 0)
                self.assertRegex(job.out, f'^{line}\n$')
                self.assertEqual(job.err, '141\n')
        job = self.mpiexec('-n', 2, *sh('kill -13 $$')) # of another pipe, perhaps
        self.ends(job, 141)
        self.assertIn('Broken pipe', job.err)

    def test_output_that_cannot_be_written(self):
        much = sh('yes | head -c 300000; echo $FATHOM_RANK ended >&3')
        for redirect, command, out in [
                ('>/dev/full', ['-n', 2, harness.ACTOR, 'init', 'print:text', 'finalize'], ''),
                ('', ['-n', 2, '-outfile-pattern', '/dev/full', harness.ACTOR, 'init', 'print:text',
                      'finalize'], ''),
                ('>/dev/full', ['-n', 2, '-l', harness.ACTOR, 'print:text'], ''),
                # The ranks themselves go on.
                ('3>&1 >/dev/full', ['-n', 2, '-l', *much], '0 ended\n1 ended\n')]:
            with self.subTest(command):
                job = self.start('sh', '-c', f'exec "$@" {redirect}', 'sh', harness.MPIEXEC, *command)
                self.ends(job, 1)
                self.assertEqual(job.err, 'mpiexec: output of the ranks was lost: No space left on '
                                 'device\n')
                self.assertEqual(''.join(sorted(job.out.splitlines(True))), out)
        for redirect, command, status in [
                ('2>/dev/full', ['-l', *sh('echo text >&2')], 1),
                ('>/dev/full', ['-n', 2, harness.ACTOR, 'init', 'print:text', 'finalize', 'exit:3'], 3),
                ('>/dev/full', ['--help'], 1), ('>/dev/full', ['--version'], 1),
                ('>&-', [harness.ACTOR, 'init', 'print:text', 'finalize'], 0),
                ('', [harness.ACTOR, 'init', 'shut', 'print:text', 'finalize'], 0)]:
            with self.subTest(command):
                job = self.start('sh', '-c', f'exec "$@" {redirect}', 'sh', harness.MPIEXEC, *command)
                self.ends(job, status)

    def test_exits_on_request(self):
        job = self.mpiexec('-n', 2, '-print-all-exitcodes', *sh('exit $FATHOM_RANK'))
        self.ends(job, 1)
        self.assertRegex(job.err, r'rank 0 \(pid \d+\): exit status 0\n'
                         r'mpiexec: rank 1 \(pid \d+\): exit status 1')


class Refused(Test):
    def test_nothing_is_started(self):
        with tempfile.TemporaryDirectory() as d:
            with open(d + '/text', 'w') as f:
                f.write('no program')
            trace = ['sh', '-c', f'touch {d}/started']
            for command, status, text in [
                    (['-n', '0', *trace], 2, 'between 1 and'),
                    (['-n', 'two', *trace], 2, 'not an integer'),
                    (['--nosuch', *trace], 2, 'unknown option --nosuch'),
                    (['-tiemout', '3', *trace], 2, '(did you mean --timeout?)'),
                    (['--foo', *trace], 2, 'unknown option --foo; see mpiexec'), # -f is not near
                    (['-n', '2'], 2, 'no program given'),
                    ([], 2, 'no program given'),
                    ([*trace, ':', '-n', '1', 'no-such-program'], 127, '"no-such-program" in PATH'),
                    ([*trace, ':', './no/such'], 127, '"./no/such"'),
                    ([*trace, ':', d + '/text'], 126, 'Permission denied'),
                    ([*trace, ':', d], 126, 'Is a directory'),
                    (['-wdir', d + '/no', *trace], 127, 'no such directory'),
                    (['-hosts', 'far:2', *trace], 1, 'host far is not the local host'),
                    (['--bind-to', 'moon', *trace], 2, 'must be none')]:
                with self.subTest(command):
                    job = self.mpiexec(*command)
                    self.ends(job, status)
                    self.assertIn(text, job.err)
                    self.assertIn('nothing was started', job.err)
                    self.assertFalse(os.path.exists(d + '/started'))

    def test_file_size_limit(self):
        job = self.start('sh', '-c', f'ulimit -f 1; exec {harness.MPIEXEC} -n 2 true')
        self.ends(job, 1)
        self.assertRegex(job.err, r'File too large \(see ulimit -f\)\nmpiexec: nothing was started')
        # Enough for the pages of the ranks, not for what they share.
        job = self.start('bash', '-c', f'ulimit -f 8000; exec {harness.MPIEXEC} -n 2 '
                         f'{harness.ACTOR} init barrier finalize', env={'FATHOM_TRANSPORT': 'shm'})
        self.ends(job, 1)
        self.assertRegex(job.err, r'MPI_Init failed: .*File too large \(see ulimit -f\)')

    def test_exec_that_fails(self):
        """The file can be executed by its mode, but not by the kernel: the reason is reported."""
        with tempfile.TemporaryDirectory() as d:
            with open(d + '/script', 'w') as f:
                f.write('#!/no/such/interpreter\n')
            shutil.copy(harness.ACTOR, d + '/busy')
            for name in 'script', 'busy':
                os.chmod(f'{d}/{name}', 0o755)
            with open(d + '/busy', 'r+b'):
                for name, status, text in [
                        ('script', 127, 'No such file or directory (its interpreter or dynamic loader is missing)'),
                        ('busy', 126, 'Text file busy')]:
                    job = self.mpiexec('-n', 2, f'{d}/{name}')
                    self.ends(job, status)
                    self.assertEqual(job.err, f'mpiexec: rank 0: cannot execute {d}/{name}: {text}\n')

    def test_descriptor_limit(self):
        """Pages of ranks need more descriptors than the soft limit, which the ranks get back."""
        job = self.start('bash', '-c', f'ulimit -Sn 64; exec {harness.MPIEXEC} -n 70 sh -c "ulimit -Sn"')
        self.ends(job, 0)
        self.assertEqual(job.out, '64\n' * 70)

    @unittest.skipIf(harness.has_sanitizer(), 'sanitizers reserve terabytes of address space')
    def test_limited_address_space(self):
        """256 MiB for each process, as some batch systems set it."""
        for transport in 'shm', 'ofi':
            job = self.start('sh', '-c', f'ulimit -v 262144; exec {harness.MPIEXEC} -n 3 '
                             f'{harness.ACTOR} init barrier finalize', env={'FATHOM_TRANSPORT': transport})
            self.ends(job, 0)

    def test_missing_libraries(self):
        """Those that are loaded on need: the package to install is named."""
        space = ['unshare', '--map-root-user', '--mount']
        if subprocess.run([*space, 'true'], stderr=subprocess.DEVNULL).returncode:
            self.skipTest('this user may not make a mount namespace')
        init = [harness.ACTOR, 'init', 'finalize']
        for library, package, command, env in [
                ('libhwloc.so.15', 'libhwloc15', [harness.MPIEXEC, '-n', '1', '--bind-to', 'core', 'true'], {}),
                ('libfabric.so.1', 'libfabric1', [harness.MPIEXEC, '-n', '2', *init], {'FATHOM_TRANSPORT': 'ofi'}),
                ('libpmix.so.2', 'libpmix2', init, {'PMIX_NAMESPACE': 'job', 'PMIX_RANK': '0'})]:
            with self.subTest(library):
                paths = re.findall(rf'{re.escape(library)} .*=> (\S+)', subprocess.run(
                    ['/sbin/ldconfig', '-p'], capture_output=True, text=True).stdout)
                if not paths:
                    continue  # it is missing: nothing to hide
                hide = ' && '.join(f'mount --bind /dev/null {p}' for p in paths)
                job = self.start(*space, 'sh', '-c', hide + ' && exec "$@"', 'sh', *command, env=env)
                self.assertNotEqual(job.end(), 0)
                self.assertIn(f'package {package}', job.err)

    def test_other_process_numbers(self):
        """A rank in a container: told at once, and nobody waits for it."""
        unshare = ['unshare', '-r', '-pf', '--mount-proc']
        if subprocess.run([*unshare, 'true'], stderr=subprocess.DEVNULL).returncode:
            self.skipTest('no namespace of process numbers can be made here')
        for program in ([':', '-n', 1, *unshare], ['-n', 2, *unshare]):
            with self.subTest(program):
                first = ['-n', 1, harness.ACTOR, 'init', 'barrier', 'finalize']
                job = self.mpiexec(*(first if program[0] == ':' else []), *program,
                                   harness.ACTOR, 'init', 'barrier', 'finalize')
                self.ends(job, 1)
                self.assertIn('MPI_Init failed: MPI_ERR_UNSUPPORTED_OPERATION', job.err)
                self.assertIn('run mpiexec inside the container', job.err)
        job = self.start(*unshare, harness.MPIEXEC, '-n', 2, harness.ACTOR, 'init', 'barrier',
                         'finalize')
        self.ends(job, 0)

    def test_help_and_version_depend_on_nothing(self):
        for option, text in (('--help', 'usage: mpiexec'), ('-h', 'usage: mpiexec'),
                             ('--version', 'Fathom'), ('-V', 'Fathom')):
            job = self.mpiexec(option, env={'HOME': '/nonexistent', 'PATH': ''}, cwd='/')
            self.ends(job, 0)
            self.assertIn(text, job.out)
            self.assertEqual(job.err, '')

    def test_file_that_is_no_program(self):
        with tempfile.TemporaryDirectory() as d:
            with open(d + '/bad', 'wb') as f:
                f.write(b'\x7fELF' + b'\0' * 60)
            os.chmod(d + '/bad', 0o755)
            job = self.mpiexec('-n', 2, d + '/bad')
            self.assertIn(job.end(), (126, 127, 2))
            self.assertTrue(re.search('cannot|not found|Syntax', job.err), job.err)


if __name__ == '__main__':
    harness.main()
