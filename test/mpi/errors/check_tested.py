#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each function of chapters 3, 4 and 5 has a test with a checked result and one with bad arguments.

A call in OK(), CHECK() or CHECK_EQ() of test/mpi/check.h counts as checked, one in FAILS() as refused. They are
looked for in the preprocessed programs, so those that macros make are found too.

usage: check_tested.py COMPILE_COMMANDS_JSON ROOT
"""
import concurrent.futures
import glob
import json
import os
import re
import shlex
import subprocess
import sys

# What the files of core/api serve that belong to these chapters.
FILES = ('bsend', 'dtype', 'dtype_array', 'dtype_make', 'pack', 'part', 'persist', 'probe', 'pt2pt', 'request',
         'sendrecv', 'status')
ALIAS = re.compile(r'^FM_ALIAS\((\w+)\)', re.M)
CHECKED = re.compile(r'check_a = \(long long\)\(\(?(MPI_\w+)\(|if \(!\((MPI_\w+)\(')
REFUSED = re.compile(r'check_code = \((MPI_\w+)\(')
# Nothing can be wrong with what they get: they take no arguments.
NO_BAD_ARGUMENTS = {'MPI_Buffer_flush'}


def preprocessed(entry):
    words = shlex.split(entry['command'])
    for option in ('-o', '-MQ', '-MF'):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    words = [w for w in words if w not in ('-c', '-MD')]
    return subprocess.run([*words, '-E', '-P'], cwd=entry['directory'], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def main(argv):
    commands, root = argv[1], os.path.realpath(argv[2])
    functions = set()
    for name in FILES:
        with open(os.path.join(root, 'src/core/api/mpi_%s.c' % name), encoding='utf-8') as f:
            functions |= {'MPI_' + a for a in ALIAS.findall(f.read())}
    programs = set(glob.glob(os.path.join(root, 'test/mpi/*/*.c')))
    with open(commands, encoding='utf-8') as f:
        entries = [e for e in json.load(f)
                   if os.path.realpath(os.path.join(e['directory'], e['file'])) in programs]
    checked, refused = set(), set()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for text in pool.map(preprocessed, entries):
            checked |= {a or b for a, b in CHECKED.findall(text)}
            refused |= set(REFUSED.findall(text))
    faults = ['%s: no checked result' % n for n in sorted(functions - checked)]
    faults += ['%s: no bad arguments' % n for n in sorted(functions - refused - NO_BAD_ARGUMENTS)]
    print(*faults, sep='\n')
    print('%d functions, %d programs, %d faults' % (len(functions), len(entries), len(faults)))
    return 1 if faults or not entries else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
