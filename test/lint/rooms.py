# SPDX-License-Identifier: BSD-3-Clause
"""Who may include whom: the table of ARCHITECTURE.md, as data and as a check."""
import os
import re

CORE = ['object', 'dtype', 'p2p', 'coll', 'comm', 'topo', 'rma', 'io', 'runtime']
FROM_TRANSPORT = ['transport/transport.h']

# Room -> rooms (a folder under src) and single headers that it may include, beside its own.
MATRIX = {
    'util': [],
    'mpit': [],
    'transport': ['util'],
    'core/object': ['util'],
    'core/dtype': ['util', 'core/object'],
    'core/p2p': ['util', 'core/object', 'core/dtype', *FROM_TRANSPORT],
    'core/coll': ['util', 'core/object', 'core/dtype', 'core/p2p'],
    'core/comm': ['util', 'core/object', 'core/p2p', 'core/coll'],
    'core/topo': ['util', 'core/object', 'core/coll', 'core/comm'],
    'core/rma': ['util', 'core/object', 'core/dtype', 'core/p2p', 'core/coll', 'core/comm',
                 *FROM_TRANSPORT],
    'core/io': ['util', 'core/object', 'core/dtype', 'core/p2p', 'core/coll', 'core/comm', 'core/rma'],
    'core/runtime': ['util', 'transport', *('core/' + r for r in CORE)],
    'core/api': ['util', *('core/' + r for r in CORE)],
    'launch': ['util'],
    'tools': ['util/page_socket.h', 'util/printable.h'],
}

# Installed headers, and who may include them beside tools, tests and benches.
INSTALLED = {
    'mpi.h': ('core/', 'mpit/mpit_api_'),
    'fathom/': ('mpit/', 'transport/', 'core/', 'launch/'),
}

# Libraries outside: who may include their headers.
OUTSIDE = {
    'rdma/': ('src/transport/ofi/', 'test/', 'bench/'),
    'pmix': ('src/core/runtime/pm_pmix.c', 'src/launch/', 'test/'),
    'hwloc': ('src/core/runtime/', 'src/launch/', 'test/', 'bench/'),
    'check.h': ('test/',),
    'json-c/': ('src/launch/', 'src/tools/', 'test/', 'bench/'),
}


def room_of(path):
    """'util', 'core/p2p' ... of a path under src."""
    parts = path.split('/')
    return '/'.join(parts[:2]) if parts[0] == 'core' else parts[0]


def is_for_one_folder(tree_file):
    """Headers that only their own folder may include: by name, or because they say so."""
    return (tree_file.name.endswith('_internal.h') or tree_file.name in ('shm.h', 'ofi.h')
            or 'folder only' in tree_file.text[:600])


def allowed(room, target):
    return room_of(target) == room or any(
        target == a or (not a.endswith('.h') and target.startswith(a + '/'))
        for a in MATRIX.get(room, []))


def check_source(f, targets):
    """A file under src."""
    path = f.path[len('src/'):]
    room = room_of(path)
    for n, inc in f.includes():
        name = inc[1:-1]
        if inc[0] == '<':
            for prefix, users in INSTALLED.items():
                if name.startswith(prefix) and not path.startswith((*users, 'tools/')):
                    yield n, f'{room} may not include <{name}>'
            continue
        if name not in targets:
            yield n, f'"{name}": write the path from src (no such file there)'
        elif not allowed(room, name):
            yield n, f'{room} may not include {name}'
        elif 'transport/shm/' in path and 'transport/ofi/' in name or \
                'transport/ofi/' in path and 'transport/shm/' in name:
            yield n, 'shm and ofi never include each other'


def unit_room(path):
    """The room that a unit test or micro bench exercises, None for others."""
    m = re.match(r'test/unit/(\w+)/', path)
    if not m:
        return None
    return 'core/' + m[1] if m[1] in [*CORE, 'api'] else m[1]


def check_test(f, targets):
    room = unit_room(f.path)
    for n, inc in f.includes():
        name = inc[1:-1]
        if f.path.startswith('test/mpi/') and inc[0] == '<' and name.startswith('fathom/'):
            yield n, 'programs of test/mpi run on any MPI: mpi.h only'
        if inc[0] == '<' or name not in targets:
            continue
        if f.path.startswith('test/mpi/'):
            yield n, 'programs of test/mpi run on any MPI: mpi.h only'
        elif room and not allowed(room, name):
            yield n, f'a unit test of {room} may not include {name}'


def check(tree):
    """(file, line, text) of each include that the table does not allow."""
    targets = {f.path[len('src/'):]: f for f in tree.c_files('src/')}
    private = {t for t, f in targets.items() if is_for_one_folder(f)}
    for f in tree.c_files():
        checks = check_source if f.path.startswith('src/') else check_test
        for n, text in checks(f, targets):
            yield f, n, text
        for n, inc in f.includes():
            name = inc[1:-1]
            for prefix, users in OUTSIDE.items():
                if inc[0] == '<' and name.startswith(prefix) and not f.path.startswith(users):
                    yield f, n, f'<{name}> is for {", ".join(users)} only'
            if name in private and os.path.dirname(name) != f.folder[len('src/'):] and \
                    not f.path.startswith('test/'):
                yield f, n, f'{name} is for the files of its own folder only'
