#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""libfathom_mpit as another runtime uses it: installed, found by pkg-config, shared and static.

usage: check_embed.py BUILD_DIR SCRATCH PREFIX LIBDIR EMBED_C
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

LIMIT = re.compile(r'^job 8 was turned away\njob 9 was turned away\n', re.M)
faults = []


def run(*cmd, env=None):
    done = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **(env or {})}, timeout=60)
    if done.returncode:
        faults.append(f'{shlex.join(cmd)}: status {done.returncode}\n{done.stdout}')
    return done.stdout


def expect(what, is_so, seen=''):
    if not is_so:
        faults.append(f'{what}: {seen}')


def check_program(exe, libdir):
    env = {'LD_LIBRARY_PATH': libdir}
    out = run(exe, env=env)
    expect('default limit', LIMIT.search(out), out)
    for line in (r'^queue_done +class 7 +7$', r'^queue_depth +class 2 +1$',
                 r'^queue_high +class 5 +8$', r'^queue_busy +class 9 +\d+$'):
        expect(line, re.search(line, out, re.M), out)
    out = run(exe, env={**env, 'JOBQ_QUEUE_LIMIT': '3'})
    expect('limit from the environment', out.startswith('job 3 was turned away\n'), out)
    out = run(exe, env={**env, 'JOBQ_QUEUE_LIMIT': 'many'})
    expect('malformed limit', 'jobq: queue_limit (environment): ignored "many": not a number; '
           'it takes 1..9' in out and LIMIT.search(out), out)


def main(argv):
    build, scratch, prefix, libdir, source = argv[1:]
    shutil.rmtree(scratch, ignore_errors=True)
    run('meson', 'install', '-C', build, '--no-rebuild', '--destdir', scratch)
    root = scratch + prefix
    libs = os.path.join(root, libdir)
    pc = {'PKG_CONFIG_PATH': libs + '/pkgconfig', 'PKG_CONFIG_SYSROOT_DIR': scratch}
    for header in ('mpi.h', 'fathom/mpit.h', 'fathom/page.h'):
        expect(header, os.path.isfile(os.path.join(root, 'include', header)))
    flags = shlex.split(run('pkg-config', '--cflags', '--libs', 'fathom_mpit', env=pc))
    shared, static = scratch + '/embed_shared', scratch + '/embed_static'
    run('cc', source, '-o', shared, *flags)
    check_program(shared, libs)
    cflags = shlex.split(run('pkg-config', '--cflags', 'fathom_mpit', env=pc))
    run('cc', source, '-o', static, *cflags, libs + '/libfathom_mpit.a', '-pthread')
    check_program(static, '')
    expect('static is static', 'fathom' not in run('ldd', static), run('ldd', static))
    shutil.rmtree(scratch, ignore_errors=True)
    print(*faults, sep='\n')
    print(f'{len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
