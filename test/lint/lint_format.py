#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""C files as clang-format leaves them.

usage: lint_format.py ROOT [FILE...]      all C files unless files are given
"""
import os
import shutil
import subprocess
import sys

from tree import Tree

SKIPPED = 77


def main(argv):
    root = argv[1]
    tool = os.environ.get('CLANG_FORMAT', 'clang-format')
    if not shutil.which(tool):
        print(f'{tool} is not installed: the form of the C files is not looked at')
        return SKIPPED
    files = argv[2:] or [f.path for f in Tree(root).c_files()]
    done = subprocess.run([tool, '--dry-run', '--Werror', '--ferror-limit=1', *files], cwd=root,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    bad = sorted({line.split(':', 1)[0] for line in done.stdout.splitlines() if ': error: ' in line})
    for path in bad:
        print(f'{path}: clang-format -i {path}')
    if done.returncode and not bad:
        print(done.stdout)
    print(f'{len(files)} files, {len(bad)} faults')
    return 1 if done.returncode else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
