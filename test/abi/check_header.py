#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hold mpi.h against the lists of this folder, by the compiler's own word.

A program is written in which each line fails to compile unless one name of the lists has the value,
type or prototype that the list gives. It is compiled as C11 and C++11, and a plain include of the
header as C99 too, with all warnings as errors. Names in the header that no list has fail as well.

usage: check_header.py INCLUDE_DIR SCRATCH_DIR -- CC [ARG...] [-- CXX [ARG...]]
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WARN = ['-Wall', '-Wextra', '-pedantic', '-Werror', '-Wundef']


def rows(name):
    with open(os.path.join(HERE, name), encoding='ascii') as f:
        return [line.rstrip('\n') for line in f if not line.startswith('#')]


def read_functions():
    out = []
    for row in rows('functions.txt'):
        m = re.fullmatch(r'(\w+) (MPI_\w+)\((.*)\)', row)
        out.append((m[1], m[2], m[3]))
    return out


def function_checks(functions):
    for returns, name, params in functions:
        for prefix in ('', 'P'):
            yield f'{returns} (*const p_{prefix}{name})({params}) = {prefix}{name};'


def constant_checks(constants, handles):
    """In C: the exact type, the value of integers, and that these can stand in #if."""
    for name, value, kind in constants:
        if kind == 'alias':
            continue
        if kind == 'int':
            yield f'#if !defined({name}) || {name} != {value}\n#error "{name}"\n#endif'
        if not kind.startswith('MPI_T_cb') and not kind.startswith('MPI_T_source'):
            yield f'_Static_assert(_Generic(({name}), {kind}: 1, default: 0), "{name}: type");'
        if not is_pointer(kind, handles):
            yield f'_Static_assert(({name}) == ({value}), "{name}: value");'


def is_pointer(kind, handles):
    return kind[-1] == '*' or kind in handles


def pointer_program(constants, handles):
    """A pointer's value is no constant expression to every compiler: a program compares it."""
    yield '#include <mpi.h>\n#include <stdio.h>'
    yield 'static const struct { const char *name; intptr_t is, should; } rows[] = {'
    for name, value, kind in constants:
        if kind == 'alias':
            yield f'    {{"{name}", (intptr_t){name}, (intptr_t){value}}},'
        elif is_pointer(kind, handles):
            yield f'    {{"{name}", (intptr_t){name}, {value}}},'
    yield """};
int main(void)
{
    int n_bad = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].is != rows[i].should) {
            printf("%s is %#lx, not %#lx\\n", rows[i].name, (long)rows[i].is, (long)rows[i].should);
            n_bad++;
        }
    }
    return n_bad != 0;
}"""


STATUS = '''
_Static_assert(sizeof(MPI_Status) == 8 * sizeof(int), "MPI_Status");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0, "MPI_SOURCE");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == sizeof(int), "MPI_TAG");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 2 * sizeof(int), "MPI_ERROR");
_Static_assert(offsetof(MPI_Status, MPI_internal) == 3 * sizeof(int), "MPI_internal");
'''


def run(cmd):
    done = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        lines = done.stdout.splitlines()
        print(' '.join(cmd), *lines[:40], sep='\n')
        if len(lines) > 40:
            print(f'... and {len(lines) - 40} more lines')
    return done.returncode == 0


def compile_text(compiler, args, path, text):
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)
    return run(compiler + args + [path])


def extra_names(header, functions, constants, types):
    """Names that the header declares and no list has."""
    with open(header, encoding='ascii') as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    known = {n for _, n, _ in functions} | {'P' + n for _, n, _ in functions}
    known |= {c[0] for c in constants} | set(types) | {'MPI_H_ABI', 'MPI_Status'}
    known |= {'MPI_SOURCE', 'MPI_TAG', 'MPI_ERROR', 'MPI_internal'}
    found = set(re.findall(r'\bP?MPIX?_\w+', text)) - known
    return sorted(n for n in found if not n.startswith('MPI_ABI_'))


def main(argv):
    include, scratch = argv[1], argv[2]
    rest = argv[4:]
    cut = rest.index('--') if '--' in rest else len(rest)
    cc, cxx = rest[:cut], rest[cut + 1:]
    os.makedirs(scratch, exist_ok=True)

    functions = read_functions()
    constants = [row.split(' ', 2) for row in rows('constants.txt')]
    typedefs = rows('types.txt')
    types = [re.search(r'(MPI_\w+)\)?(\(.*\))?;$', t)[1] for t in typedefs]
    handles = {t for t, d in zip(types, typedefs) if d.startswith('typedef struct')}
    ok = True
    if len(functions) != 664 or len(constants) != 365:
        print(f'the lists are cut: {len(functions)} functions, {len(constants)} constants')
        ok = False

    protos = '\n'.join(function_checks(functions)) + '\n'
    text = '#include <stddef.h>\n#include <mpi.h>\n#include <mpi.h>\n'
    text += STATUS + '\n'.join(typedefs) + '\n' + '\n'.join(constant_checks(constants, handles)) + '\n'
    flags = WARN + ['-I' + include]
    check = flags + ['-fsyntax-only']
    ok &= compile_text(cc, check + ['-std=c11'], scratch + '/abi_types.c', text)
    plain = '#include <mpi.h>\n'
    ok &= compile_text(cc, check + ['-std=c11'], scratch + '/abi_protos.c', plain + protos)
    use = plain + 'int use(int *n);\nint use(int *n)\n{\n    return MPI_Comm_size(MPI_COMM_WORLD, n);\n}\n'
    ok &= compile_text(cc, check + ['-std=c99'], scratch + '/abi_c99.c', use)
    if cxx:
        ok &= compile_text(cxx, check + ['-std=c++11', '-Wno-unused-variable',
                                         '-Wno-unused-const-variable'],
                           scratch + '/abi_protos.cc', use + protos)
    text = '\n'.join(pointer_program(constants, handles)) + '\n'
    program = scratch + '/abi_pointers'
    ok &= (compile_text(cc, flags + ['-std=c11', '-o', program], program + '.c', text)
           and run([program]))
    for name in extra_names(include + '/mpi.h', functions, constants, types):
        print(f'mpi.h declares {name}, which is not in the ABI')
        ok = False
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv))
