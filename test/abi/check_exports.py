#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hold the dynamic symbols of libmpi_abi against functions.txt.

Each function is there as weak MPI_x and strong PMPI_x at one address, the library looks up none of
them by name (a tool in front would be called by it), nothing else leaves the library than fathom_*
and the debugger's MPIR_*, and the library needs nothing but libc (a job on
one host must not pay for loading libfabric, libpmix or hwloc).

usage: check_exports.py LIBRARY [NM [READELF]]
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# AddressSanitizer marks each exported variable with a symbol of its own.
OTHERS = re.compile(r'(__odr_asan\.)?(fathom_|MPIR_)\w+')
NEEDS = re.compile(r'(libc|libm|libdl|librt|libpthread|libgcc_s|ld-linux[-\w]*)\.so'
                   r'|lib(a|ub|t|l)san\.so|libclang_rt')


def output_of(*cmd):
    return subprocess.run(cmd, check=True, stdout=subprocess.PIPE, text=True).stdout


def main(argv):
    library = argv[1]
    nm = argv[2] if len(argv) > 2 else 'nm'
    readelf = argv[3] if len(argv) > 3 else 'readelf'
    with open(os.path.join(HERE, 'functions.txt'), encoding='ascii') as f:
        names = re.findall(r'^\w+ (MPI_\w+)\(', f.read(), flags=re.M)
    faults = []
    symbols = {}
    for line in output_of(nm, '-D', '--defined-only', library).splitlines():
        address, kind, name = line.split()
        symbols[name.split('@')[0]] = (kind, address)

    for name in names:
        weak, strong = symbols.pop(name, None), symbols.pop('P' + name, None)
        if not weak or not strong:
            faults.append(f'{name}: not exported as ' +
                          ' and '.join(n for n, s in ((name, weak), ('P' + name, strong)) if not s))
        elif weak[0] != 'W':
            faults.append(f'{name} is of kind {weak[0]}, not weak: no tool could stand in front')
        elif strong[0] != 'T':
            faults.append(f'P{name} is of kind {strong[0]}, not a strong function')
        elif weak[1] != strong[1]:
            faults.append(f'{name} and P{name} are two functions')
    faults += [f'{name} ({kind[0]}) leaves the library' for name, kind in sorted(symbols.items())
               if not OTHERS.fullmatch(name)]

    faults += [f'the library itself looks up {name}, which a tool may have taken over' for name in sorted(
        set(re.findall(r' (P?MPI_\w+)', output_of(readelf, '-rW', library))))]

    dynamic = output_of(readelf, '-d', library)
    soname = re.search(r'\(SONAME\).*\[(.*)\]', dynamic)
    if not soname or soname[1] != 'libmpi_abi.so.1':
        faults.append(f'the soname is {soname and soname[1]}, not libmpi_abi.so.1')
    faults += [f'needs {n} at load time' for n in re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic)
               if not NEEDS.match(n)]
    print(*faults, sep='\n')
    print(f'{len(names)} functions, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
