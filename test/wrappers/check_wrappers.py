#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpicc and mpicxx as users, CMake and pkg-config call them.

usage: check_wrappers.py answers   DIR_OF_WRAPPERS        what -show and its kin print
       check_wrappers.py programs  DIR_OF_WRAPPERS SCRATCH PKG_CONFIG_DIR
                                                          compile, link and run, CMake, pkg-config
       check_wrappers.py installed BUILD_DIR SCRATCH PREFIX BINDIR LIBDIR
                                                          the same with an installed tree that was
                                                          moved to a path with spaces
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HELLO = os.path.join(HERE, 'cmake', 'hello.c')
COMPAT = os.path.join(HERE, 'compat.c')
PROMISE = 'ABI 1.0 of MPI 5.0\n'
faults = []


def run(*cmd, status=0, env=None, **more):
    """The output of a command, both streams; a fault if it ends with another status."""
    clean = {k: v for k, v in os.environ.items()
             if not re.match(r'(FATHOM|MPICH|OMPI|I_MPI)_|LD_LIBRARY_PATH', k)}
    try:
        done = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**clean, **(env or {})}, **more)
    except OSError as e:
        faults.append(f'{shlex.join(cmd)}: {e}')
        return ''
    if done.returncode != status:
        faults.append(f'{shlex.join(cmd)}: status {done.returncode}, not {status}\n{done.stdout}')
    return done.stdout


def expect(what, is_so, seen=''):
    if not is_so:
        faults.append(f'{what}: {seen}')


def check_answers(where, mpicc):
    show = shlex.split(run(mpicc, '-show'))
    compile_flags = shlex.split(run(mpicc, '-showme:compile'))
    link_flags = shlex.split(run(mpicc, '-showme:link'))
    incdirs = shlex.split(run(mpicc, '-showme:incdirs'))
    libdirs = shlex.split(run(mpicc, '-showme:libdirs'))
    compiler = run(mpicc, '-showme:command').split()
    expect(f'{where}: incdirs', len(incdirs) == 1 and os.path.isfile(incdirs[0] + '/mpi.h'), incdirs)
    expect(f'{where}: libdirs', len(libdirs) == 1 and
           os.path.exists(libdirs[0] + '/libmpi_abi.so'), libdirs)
    expect(f'{where}: libs', run(mpicc, '-showme:libs') == 'mpi_abi\n')
    expect(f'{where}: compile', compile_flags == ['-I' + incdirs[0]], compile_flags)
    expect(f'{where}: link', link_flags[0] == '-L' + libdirs[0] and link_flags[-1] == '-lmpi_abi',
           link_flags)
    expect(f'{where}: show', show == compiler + compile_flags + link_flags, show)
    for dialect in ('--show', '-showme', '--showme'):
        expect(f'{where}: {dialect}', shlex.split(run(mpicc, dialect)) == show)
    for dash in ('-', '_'):
        expect(f'{where}: compile{dash}info', shlex.split(run(mpicc, f'-compile{dash}info')) ==
               compiler + compile_flags)
        expect(f'{where}: link{dash}info', shlex.split(run(mpicc, f'-link{dash}info')) ==
               compiler + link_flags)
    odd = ['-DTEXT="a b"', 'my file.c', '-o', 'my prog', "it's", 'a$b', 'c\\d']
    line = run(mpicc, '-show', '-c', *odd)
    words = run('sh', '-c', "printf '%s\\n' " + line).splitlines()
    expect(f'{where}: odd words', words == compiler + compile_flags + ['-c'] + odd, words)
    expect(f'{where}: no link flags with -c', '-lmpi_abi' not in run(mpicc, '-show', '-c', 'x.c'))
    expect(f'{where}: version', 'Fathom' in run(mpicc, '-showme:version'))
    expect(f'{where}: help', 'usage' in run(mpicc, '-showme:help'))
    expect(f'{where}: unknown', '-showme:nonsense' in run(mpicc, '-showme:nonsense', status=1))


def check_compiler_choice(where, mpicc, option, var):
    command = [mpicc, '-showme:command']
    for name in ('FATHOM_', 'MPICH_', 'OMPI_'):
        expect(f'{where}: {name}{var}', run(*command, env={name + var: 'other -m64'}) ==
               'other -m64\n')
    both = {'FATHOM_' + var: 'ours', 'MPICH_' + var: 'theirs'}
    expect(f'{where}: order', run(*command, env=both) == 'ours\n')
    expect(f'{where}: option', run(mpicc, option + '=asked', '-showme:command', env=both) ==
           'asked\n')
    default = run(*command)
    expect(f'{where}: circle', run(*command, env={'MPICH_' + var: mpicc}) == default)
    expect(f'{where}: missing compiler', "'no-such-cc' is not there" in
           run(mpicc, HELLO, env={'FATHOM_' + var: 'no-such-cc'}, status=127))


def check_compiling(where, mpicc, scratch):
    """Everything that does not link, and what only asks the compiler."""
    done = scratch + '/hello.o'
    text = run(mpicc, '-E', HELLO)
    expect(f'{where}: -E', 'MPI_Abi_get_version' in text and 'int main' in text)
    expect(f'{where}: -M', 'mpi.h' in run(mpicc, '-M', HELLO))
    expect(f'{where}: -c', run(mpicc, '-Wall', '-Wextra', '-Werror', '-c', HELLO, '-o', done) == '')
    expect(f'{where}: -MMD', run(mpicc, '-MMD', '-MF', scratch + '/hello.d', '-c', HELLO, '-o',
                                 done) == '' and os.path.exists(scratch + '/hello.d'))
    expect(f'{where}: --version', run(mpicc, '--version') == run(
        *shlex.split(run(mpicc, '-showme:command')), '--version'))
    run(mpicc, '-x', 'c', '-', '-c', '-o', done, input='#include <mpi.h>\n')


def check_compat(where, mpicc, mpicxx, scratch):
    """Older names, which need the option and nothing else."""
    prog = scratch + '/compat'
    strict = ['-Wall', '-Wextra', '-Werror']
    run(mpicc, *strict, COMPAT, '-o', prog, status=1)
    for flags in ([], ['-O2', '-std=gnu11']):
        run(mpicc, '--compat', *strict, *flags, COMPAT, '-o', prog)
        expect(f'{where}: compat {flags}', run(prog) == 'compatible\n')
    run(mpicc, '--compat', '-std=gnu89', *strict, '-c', '-x', 'c', os.devnull, '-o', prog + '.o')
    if shutil.which('c++'):
        run(mpicxx, '--compat', *strict, '-x', 'c++', COMPAT, '-x', 'none', '-o', prog)
        expect(f'{where}: compat in C++', run(prog) == 'compatible\n')
    show = shlex.split(run(mpicc, '--compat', '-show'))
    expect(f'{where}: compat -show', '--compat' not in show and 'fathom/compat.h' in show, show)


def check_programs(where, mpicc, scratch):
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    check_compiling(where, mpicc, scratch)
    prog = scratch + '/hello'
    for flags in ([], ['-fsanitize=undefined'], ['-O2', '-std=c99']):
        run(mpicc, *flags, HELLO, '-o', prog)
        expect(f'{where}: program {flags}', run(prog) == PROMISE)
    run(mpicc, '-c', HELLO, '-o', scratch + '/hello.o')
    run(mpicc, scratch + '/hello.o', '-o', prog)
    expect(f'{where}: two steps', run(prog) == PROMISE)
    mpicxx = os.path.join(os.path.dirname(mpicc), 'mpicxx')
    if shutil.which('c++'):
        run(mpicxx, '-x', 'c++', HELLO, '-x', 'none', '-o', prog)
        expect(f'{where}: C++ program', run(prog) == PROMISE)
    check_compat(where, mpicc, mpicxx, scratch)
    clang = shutil.which('clang')
    if clang:
        run(mpicc, '-cc=' + clang, '-Werror', HELLO, '-o', prog)
        run(mpicc, '-cc=' + clang, '-Werror', '-c', HELLO, '-o', scratch + '/hello.o')


def check_cmake(where, mpicc, scratch):
    """FindMPI with the wrapper as its hint, on the path, and as the compiler itself."""
    if not shutil.which('cmake'):
        print('no cmake here: its FindMPI is not tried')
        return
    mpicxx = os.path.join(os.path.dirname(mpicc), 'mpicxx')
    ways = {'hint': ([f'-DMPI_C_COMPILER={mpicc}', f'-DMPI_CXX_COMPILER={mpicxx}'], {}),
            'compiler': ([f'-DCMAKE_C_COMPILER={mpicc}', f'-DCMAKE_CXX_COMPILER={mpicxx}'], {})}
    # FindMPI looks for mpiexec first and prefers the wrapper that lies beside it.
    bindir = os.path.dirname(mpicc)
    for launch in (bindir, os.path.join(os.path.dirname(bindir), 'launch')):
        if os.path.exists(launch + '/mpiexec'):
            ways['path'] = ([], {'PATH': f'{launch}:{bindir}:{os.environ["PATH"]}'})
    for way, (options, env) in ways.items():
        build = f'{scratch}/cmake {way}'
        text = run('cmake', '-S', HERE + '/cmake', '-B', build, *options, env=env)
        expect(f'{where}: FindMPI by {way}', 'MPI version 5.0' in text, text)
        run('cmake', '--build', build)
        for prog in ('hello', 'hello_cxx') if shutil.which('c++') else ('hello',):
            expect(f'{where}: cmake by {way}: {prog}', run(f'{build}/{prog}') == PROMISE)


def check_pkg_config(where, pc_dir, libdir, scratch, *options):
    if not shutil.which('pkg-config'):
        print('no pkg-config here: not tried')
        return
    for name in ('fathom', 'mpi', 'mpi-c'):
        flags = shlex.split(run('pkg-config', *options, '--cflags', '--libs', name,
                                env={'PKG_CONFIG_PATH': pc_dir}))
        run('cc', HELLO, '-o', scratch + '/pc', *flags)
        expect(f'{where}: pkg-config {name}',
               run(scratch + '/pc', env={'LD_LIBRARY_PATH': libdir}) == PROMISE)


def check_installed(build, scratch, prefix, bindir, libdir):
    """Install below a folder with spaces, by DESTDIR, which no file of the tree knows."""
    shutil.rmtree(scratch, ignore_errors=True)
    dest = scratch + '/a new place'
    meson = shlex.split(os.environ.get('MESON', 'meson'))
    run(*meson, 'install', '-C', build, '--no-rebuild', '--quiet', env={'DESTDIR': dest})
    bindir, libdir = dest + os.path.join(prefix, bindir), dest + os.path.join(prefix, libdir)
    mpicc = bindir + '/mpicc'
    if not os.path.exists(mpicc):
        return
    check_answers('installed', mpicc)
    check_programs('installed', mpicc, scratch + '/my programs')
    check_cmake('installed', mpicc, scratch + '/my programs')
    check_pkg_config('installed', libdir + '/pkgconfig', libdir, scratch,
                     '--define-variable=prefix=' + (dest + prefix).replace(' ', '\\ '))
    link = scratch + '/link'
    os.symlink(mpicc, link)
    expect('installed: by a link', run(link, '-show') == run(mpicc, '-show'))
    expect('installed: mpic++', os.path.exists(bindir + '/mpic++'))


def main(argv):
    mode, where = argv[1], argv[2]
    if mode == 'answers':
        for name, option, var in (('mpicc', '-cc', 'CC'), ('mpicxx', '-cxx', 'CXX')):
            check_answers(name, f'{where}/{name}')
            check_compiler_choice(name, f'{where}/{name}', option, var)
    elif mode == 'programs':
        scratch, pc_dir = argv[3], argv[4]
        check_programs('build tree', where + '/mpicc', scratch)
        check_cmake('build tree', where + '/mpicc', scratch)
        libdir = run(where + '/mpicc', '-showme:libdirs').strip()
        check_pkg_config('build tree', pc_dir, libdir, scratch)
    else:
        check_installed(*argv[2:])
    print(*faults, sep='\n')
    print(f'{len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
