#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the house style that can only be seen in what the compiler made.

usage: lint_objects.py ROOT BUILD_DIR                          names and state of the library
       lint_objects.py --headers ROOT SCRATCH -- CC [ARG...]   each header compiles alone
"""
import json
import os
import re
import subprocess
import sys

from tree import Tree

SYMBOL = re.compile(r'^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+ +(?:\.(?:hidden|protected|internal) )?(\S+)$')
API = ('src/core/api/', 'src/mpit/mpit_api_')
LEAVES = re.compile(r'(fm_|fathom_)\w')
STANDARD = re.compile(r'P?MPI_\w')
DEBUGGER = re.compile(r'MPIR_\w')
SKIPPED = 77


def objects(root, build):
    """(source path, object file, command) of everything that goes into a library."""
    with open(build + '/compile_commands.json', encoding='utf-8') as f:
        for row in json.load(f):
            source = os.path.relpath(os.path.join(row['directory'], row['file']), root)
            output = os.path.join(row['directory'], row['output'])
            if source.startswith('src/') and re.search(r'/?lib[^/]*\.(a|so[.\d]*)\.p/', output) and \
                    os.path.exists(output):
                yield source, output, row['command']


def symbols(path):
    """(flags, section, name) of each symbol that an object defines."""
    out = subprocess.run(['objdump', '-t', path], check=True, stdout=subprocess.PIPE, text=True)
    for line in out.stdout.splitlines():
        m = SYMBOL.match(line)
        if m and m[2] != '*UND*':
            yield m[1], m[2], m[3]


def is_mutable(flags, section):
    return flags[-1] == 'O' and not section.startswith('.data.rel.ro') and \
        re.match(r'\.(data|bss|tdata|tbss)\b|\*COM\*', section)


def has_comment(f, pattern):
    """Does a comment stand on a line of this form, or above its paragraph?"""
    text = f.text.splitlines()
    for n, line in enumerate(f.code.splitlines()):
        if not re.match(pattern, line):
            continue
        while n >= 0 and text[n].strip() not in ('', '{', '}'):
            if re.search(r'/\*|\*/', text[n]):
                return True
            n -= 1
    return False


def says_why(tree, source, name):
    """State is explained where it is defined, or, if others see it, where a header declares it."""
    f = next(f for f in tree.files if f.path == source)
    end = rf'\b{name}\b\s*(\[.*\])?\s*(=|;|__attribute__)'
    if has_comment(f, r'\s*[a-zA-Z_}][\w\s*]*?' + end):
        return True
    return any(h.is_header and has_comment(h, r'\s*extern\b[\w\s*()]*?' + end)
               for h in tree.files)


def check_symbols(source, path, inlines):
    for flags, _, name in symbols(path):
        kind, base = flags[-1], name.split('.')[0]
        if kind not in 'FO' or name.startswith(('.', '__')):
            continue
        is_global = flags[0] in 'gu!' or flags[1] == 'w'
        if is_global and STANDARD.match(name) and not source.startswith(API):
            yield f'{name} is defined outside core/api and mpit_api_*'
        elif is_global and not any(r.match(name) for r in (LEAVES, STANDARD, DEBUGGER)):
            yield f'{name}: a name that is not static begins with fm_ or fathom_'
        elif not is_global and name == base and LEAVES.match(name) and name not in inlines:
            yield f'{name} is static: such names carry no prefix'


def check_objects(root, build):
    tree = Tree(root)
    inlines = set(re.findall(r'\b(?:fm|fathom)_\w+(?=\()', '\n'.join(
        f.code for f in tree.files if f.is_header)))
    sources, state, faults = set(), [], []
    for source, path, command in objects(root, build):
        sources.add(source)
        if '-fsanitize' in command or '--coverage' in command:
            print('objects of a sanitizer or coverage build have state of their own: not looked at')
            return SKIPPED
        if source.startswith(API) and re.search(r'-flto\b(?!.*-fno-lto)', command):
            faults.append(f'{source}: compiled with LTO, which makes the weak MPI_ names strong')
        if '-flto' in command:
            continue  # such an object has no code yet, and its symbols are of another kind
        faults += [f'{source}: {text}' for text in check_symbols(source, path, inlines)]
        for flags, section, name in symbols(path):
            name = re.sub(r'\.\d+$', '', name)
            if is_mutable(flags, section):
                state.append(f'{source}: {name}')
                if not says_why(tree, source, name):
                    faults.append(f'{source}: {name} is state outside the root: say above it why, '
                                  'and what guards it; or pass it as an argument')
    print('mutable state of the library:', *state, sep='\n  ')
    print(*faults, sep='\n')
    print(f'{len(sources)} objects, {len(faults)} faults')
    return 1 if faults or not sources else 0


def check_headers(root, scratch, compiler):
    """Installed headers as a user compiles them, C and C++; ours with the flags of the build."""
    os.makedirs(scratch, exist_ok=True)
    n, n_bad = 0, 0
    for f in Tree(root).files:
        if not f.is_header or not f.path.startswith(('src/', 'include/', 'test/support/')):
            continue
        n += 1
        user = f.path.startswith('include/')
        name = f.path.split('/', 1)[1]
        args = ['-I' + root + '/include', '-Wall', '-Wextra', '-Werror', '-fsyntax-only']
        args += ['-std=c99', '-pedantic'] if user else \
            ['-std=gnu11', '-D_GNU_SOURCE', '-DFM_STATS=1', '-DFM_CHECKS=1', '-DFM_VERSION=""',
             '-I' + root + '/src', '-I' + root + '/test', '-Wno-unused-parameter']
        text = f'#include {f"<{name}>" if user else chr(34) + name + chr(34)}\nextern int unused;\n'
        for language in ['c', 'c++'] if user else ['c']:
            path = f'{scratch}/alone.{language}'
            with open(path, 'w', encoding='ascii') as out:
                out.write(text)
            std = [a for a in args if language == 'c' or not a.startswith('-std')]
            done = subprocess.run(compiler + std + ['-x', language, path], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                n_bad += 1
                print(f'{f.path} does not compile alone as {language}:',
                      *done.stdout.splitlines()[:8], sep='\n')
    print(f'{n} headers, {n_bad} faults')
    return 1 if n_bad or not n else 0


def main(argv):
    if argv[1] == '--headers':
        return check_headers(argv[2], argv[3], argv[5:])
    return check_objects(argv[1], argv[2])


if __name__ == '__main__':
    sys.exit(main(sys.argv))
