#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Commit messages: `room: do this` in 60 columns, an empty line, a body without trailers.

usage: lint_commits.py ROOT [RANGE]      RANGE: HEAD unless given
"""
import re
import subprocess
import sys

from lint_text import FORBIDDEN

SUBJECT = re.compile(r'[a-z0-9_]+([/,] ?[a-z0-9_]+)*: \S')
TRAILER = re.compile(r'^(signed-off|co-authored|reviewed|acked|tested|generated|assisted)[-\w ]*(by|with):?',
                     re.I | re.M)
SKIPPED = 77


def check(message):
    lines = message.rstrip().split('\n')
    if not SUBJECT.match(lines[0]):
        yield 'the subject is not of the form `room: do this`'
    if len(lines[0]) > 60:
        yield f'the subject has {len(lines[0])} columns, the limit is 60'
    if lines[0].endswith('.'):
        yield 'the subject ends with a full stop'
    if len(lines) > 1 and lines[1]:
        yield 'the line below the subject is not empty'
    if TRAILER.search(message):
        yield f'a trailer: {TRAILER.search(message)[0]}'
    if FORBIDDEN.search(message):
        yield f'"{FORBIDDEN.search(message)[0]}" is of one machine or one network'


def main(argv):
    cmd = ['git', '-C', argv[1], 'log', '--no-merges', '--format=%h%n%B%x00',
           argv[2] if len(argv) > 2 else 'HEAD']
    done = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print('no history here (an archive, or no git): nothing to look at')
        return SKIPPED
    n, faults = 0, []
    for entry in filter(None, (e.lstrip('\n') for e in done.stdout.split('\0'))):
        commit, message = entry.split('\n', 1)
        n += 1
        faults += [f'{commit} {message.splitlines()[0]}: {text}' for text in check(message)]
    print(*faults, sep='\n')
    print(f'{n} commits, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
