#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The reference is complete: every row of a table in the source is in it, once, with its words.

The rows are taken from the preprocessed source, not from the library, so a table that no code
registers is found too.

usage: check_reference.py REFERENCE_PROGRAM COMPILE_COMMANDS_JSON ROOT
"""
import json
import os
import re
import shlex
import subprocess
import sys

ROWS = re.compile(r'\bstruct fathom_(cvar|pvar|event)\s+\w+\[[^]]*\]\s*=\s*\{(.*?)\n?\};', re.S)
NAME = re.compile(r'[{,]\s*\.name\s*=\s*((?:"[^"]*"\s*)+)')
ENTRY = re.compile(r'^- \*\*`(\w+)`\*\* \(([^)]*)\): (.*)$', re.M)


def preprocessed(command, directory):
    words = shlex.split(command)
    for option in ('-o', '-MQ', '-MF'):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    words = [w for w in words if w not in ('-c', '-MD')]
    done = subprocess.run([*words, '-E', '-P'], cwd=directory, stdout=subprocess.PIPE, text=True,
                          check=True)
    return done.stdout


def rows_of_source(commands, root):
    src = os.path.join(os.path.realpath(root), 'src') + os.sep
    seen = set()
    for entry in json.load(open(commands)):
        path = os.path.realpath(os.path.join(entry['directory'], entry['file']))
        if path in seen or not path.startswith(src):
            continue
        seen.add(path)
        text = open(path).read()
        if not re.search(r'struct fathom_(cvar|pvar|event)\s+\w+\[', text):
            continue
        for m in ROWS.finditer(preprocessed(entry['command'], entry['directory'])):
            for name in NAME.findall(m[2]):
                yield m[1], ''.join(re.findall(r'"([^"]*)"', name)), os.path.relpath(path, root)


def main(argv):
    program, commands, root = argv[1:]
    page = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    entries = ENTRY.findall(page)
    names = {name for name, _, _ in entries}
    faults = []
    for kind, name, path in rows_of_source(commands, root):
        if name not in names:
            faults.append(f'{path}: {kind} {name} is not in the reference: is its table registered?')
    faults += [f'{name}: no description' for name, _, desc in entries if len(desc) < 10]
    n = sum(map(int, re.search(r'(\d+) control variables, (\d+) performance variables, '
                               r'(\d+) events', page).groups()))
    if n != len(entries):
        faults.append(f'{n} variables and events, but {len(entries)} entries')
    kinds = [(name, kind.split(',')[0]) for name, kind, _ in entries]
    faults += [f'{name}: twice' for name, kind in set(kinds) if kinds.count((name, kind)) > 1]
    print(*faults, sep='\n')
    print(f'{len(entries)} entries, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
