#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Print a profiling library: MPI_x for every function of the ABI (or those with a prefix), which notes the call and goes
on to PMPI_x; and the table of all names for names.c.

usage: gen_profiler.py FUNCTIONS_TXT PREFIX wrappers|names
"""
import re
import sys

PROTOTYPE = re.compile(r'(.*?[ *])(MPI_\w+)\((.*)\)$')


def name_of(parameter):
    return re.search(r'(\w+)(\[\w*\])*$', parameter)[1]


def wrapper(kind, name, parameters):
    given = [p for p in parameters.split(', ') if p not in ('void', '...')]
    call = f'P{name}({", ".join(map(name_of, given))})'
    return (f'{kind}{name}({parameters})\n{{\n    {kind}rc;\n\n    profiler_enter("{name}");\n    rc = {call};\n'
            f'    profiler_leave("{name}");\n    return rc;\n}}\n')


def main(argv):
    path, prefix, what = argv[1:]
    with open(path, encoding='ascii') as f:
        rows = [PROTOTYPE.match(line.rstrip()).groups() for line in f if not line.startswith('#')]
    print('#include <mpi.h>\n\n#include "profiler.h"\n')
    if what == 'wrappers':
        print('\n'.join(wrapper(*row) for row in rows if row[1].startswith(prefix)))
        return
    # The table has what is reachable, which in the registry alone is MPI_T_ only.
    print('const struct profiler_name profiler_names[] = {')
    for _, name, _ in rows:
        if name.startswith(prefix):
            print(f'    {{"{name}", (profiler_fn)&{name}, (profiler_fn)&P{name}}},')
    print('    {0},\n};')


if __name__ == '__main__':
    main(sys.argv)
