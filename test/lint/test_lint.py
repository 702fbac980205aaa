#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each lint finds what it is for, and finds nothing in a tree that keeps the rules.

usage: test_lint.py SCRATCH
"""
import os
import shutil
import subprocess
import sys

import lint_commits
import lint_graph
import lint_text

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = '/* SPDX-License-Identifier: BSD-3-Clause */\n/* A file. */\n'

GOOD = {
    'src/util/list.h': TOP + '#pragma once\n#define FM_LIST 1\nstruct fm_list {\n    int n;\n};\n'
                             'int fm_list_add(struct fm_list *l);\n',
    'src/util/log.c': TOP + '#include "util/list.h"\n#include <stdio.h>\n\n/* MPI_Send( here */\n'
                            'static int n(void)\n{\n#if FM_STATS\n    return 1;\n#endif\n'
                            '    puts("goto MPI_Send(x)");\n    return 0;\n}\n',
    'src/core/api/api.h': TOP + '#pragma GCC visibility push(default)\n#include <mpi.h>\n',
    'src/core/api/mpi_x.c': TOP + '#include "core/api/api.h"\nint f(void)\n{\n    return MPI_Send(x);\n}\n',
    'src/core/api/args.h': TOP + '#include "core/api/api.h"\n',
    'src/core/api/args.c': TOP + '#include "core/api/args.h"\n',
    'src/core/p2p/match.h': TOP + '#include <mpi.h>\n#include "util/list.h"\n',
    'src/core/p2p/send.c': TOP + '#include "core/p2p/match.h"\n#include "transport/transport.h"\n',
    'src/transport/transport.h': TOP,
    'src/transport/shm/shm.h': TOP,
    'src/transport/shm/shm_send.c': TOP + '#include "transport/shm/shm.h"\n',
    'test/unit/p2p/test_match.c': TOP + '#include <check.h>\n#include "core/p2p/match.h"\n',
    'test/mpi/pt2pt/ring.c': TOP + '#include <mpi.h>\nint f(void)\n{\n    return MPI_Send(x);\n}\n',
}

# (rule, path, text): put into the good tree, the rule finds this file and no other rule finds it.
BAD = [
    ('spdx', 'src/util/a.c', 'int a;\n'),
    ('spdx', 'src/util/a.c', TOP.split('\n')[0] + '\n#include <a.h>\n'),
    ('spdx', 'scripts/a.sh', '#!/bin/sh\necho\n'),
    ('sizes', 'src/util/a.c', TOP + '\n' * 1000),
    ('sizes', 'src/util/a.h', TOP + '\n' * 250),
    ('sizes', 'src/util/a.c', TOP + '/* ' + 'x' * 100 + ' */\n'),
    ('functions', 'src/util/a.c', TOP + 'int f(void)\n{\n' + '    g();\n' * 61 + '}\n'),
    ('functions', 'test/mpi/p2p/a.c', TOP + 'int f(void)\n{\n' + '    g();\n' * 61 + '}\n'),
    ('functions', 'src/util/a.c', TOP + 'int f(void)\n{\n#ifdef __linux__\n    g();\n#endif\n}\n'),
    ('base_names', 'src/util/match.h', TOP),
    ('base_names', 'src/util/strings.h', TOP),
    ('includes', 'src/util/a.c', TOP + '#include "core/p2p/match.h"\n'),
    ('includes', 'src/util/a.c', TOP + '#include "list.h"\n'),
    ('includes', 'src/util/a.c', TOP + '#include <mpi.h>\n'),
    ('includes', 'src/mpit/a.c', TOP + '#include "util/list.h"\n'),
    ('includes', 'src/core/coll/a.c', TOP + '#include "transport/transport.h"\n'),
    ('includes', 'src/transport/ofi/a.c', TOP + '#include "transport/shm/shm_open.h"\n'),
    ('includes', 'src/transport/a.c', TOP + '#include "transport/shm/shm.h"\n'),
    ('includes', 'src/core/p2p/a.c', TOP + '#include <rdma/fabric.h>\n'),
    ('includes', 'src/core/runtime/a.c', TOP + '#include <pmix.h>\n'),
    ('includes', 'src/launch/a.c', TOP + '#include "core/p2p/match.h"\n'),
    ('includes', 'src/tools/a.c', TOP + '#include "util/list.h"\n'),
    ('includes', 'test/unit/util/a.c', TOP + '#include "core/p2p/match.h"\n'),
    ('includes', 'test/mpi/pt2pt/a.c', TOP + '#include "util/list.h"\n'),
    ('jumps', 'src/util/a.c', TOP + '#define A(x) \\\n    if (x) \\\n        goto out\n'),
    ('todo', 'src/util/a.c', TOP + '/* TO' + 'DO: later */\n'),
    ('standard_names', 'src/core/p2p/a.c', TOP + 'int f(void)\n{\n    return PMPI_Send_c(x);\n}\n'),
    ('visibility', 'src/core/api/a.c', TOP + '#include "util/list.h"\n#include "core/api/api.h"\n'),
    ('visibility', 'src/mpit/mpit_api_a.c', TOP + '#include <mpi.h>\n'),
    ('environment', 'src/mpit/a.c', TOP + 'int f(void)\n{\n    return !getenv("A");\n}\n'),
    ('environment', 'src/util/a.c', TOP + 'int f(void)\n{\n    return !getenv("A");\n}\n'),
    ('names_in_headers', 'src/util/a.h', TOP + 'struct other {\n    int n;\n};\n'),
    ('names_in_headers', 'src/util/a.h', TOP + '#define OTHER 1\n'),
    ('names_in_headers', 'src/util/a.c', TOP + 'typedef struct a {\n    int n;\n} b;\n'),
    ('nouns', 'src/util/a.h', TOP + 'void fm_other_do(int x);\n'),
    ('nouns', 'src/mpit/a.h', TOP + 'struct fm_page;\n'),
    ('nouns', 'src/util/a.h', TOP + 'static inline struct fm_b *fm_other_do(int x)\n{\n}\n'),
    ('sleeping', 'test/unit/p2p/a.c', TOP + 'int f(void)\n{\n    usleep(1);\n}\n'),
    ('machine', 'scripts/a.py', '# SPDX-License-Identifier: BSD-3-Clause\n# /wo' + 'rk/main\n'),
]

MESSAGES = {
    'p2p: match wildcards by stamp\n\nBecause so.': True,
    'core/p2p: match': True,
    'util, mpit: count in place': True,
    'Match wildcards': False,
    'p2p: ' + 'x' * 60: False,
    'p2p: match wildcards.': False,
    'p2p: match\nno empty line': False,
    'p2p: match\n\nSigned-off-by: A <a@b>': False,
    'p2p: match\n\nSee /wo' + 'rk/shared': False,
}


def write(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)


STATE = '''
int fm_known(void);
/* Guarded by nothing. */
static int said;

static int unsaid;
static const char *const table[] = {"a", "b"};
static int fm_local(void);
int stray;
int fm_known(void)
{
    return fm_local() + said++ + unsaid++ + table[said][0];
}
static int fm_local(void)
{
    return said;
}
int MPI_Send(void)
{
    return 0;
}
'''


def objects_find(scratch):
    """The faults of an object that breaks the rules, by the lint as it is run."""
    write(scratch, 'src/util/a.c', TOP + STATE)
    write(scratch, 'build/liba.a.p/x', '')
    source, output = scratch + '/src/util/a.c', scratch + '/build/liba.a.p/a.o'
    subprocess.run(['cc', '-O0', '-fPIC', '-c', source, '-o', output], check=True)
    write(scratch, 'build/compile_commands.json',
          '[{"directory": "%s", "file": "../src/util/a.c", "output": "liba.a.p/a.o", '
          '"command": "cc"}]' % (scratch + '/build'))
    done = subprocess.run([sys.executable, HERE + '/lint_objects.py', scratch, scratch + '/build'],
                          stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


def graph_of(*edges):
    graph = {name: {} for edge in edges for name in edge}
    for a, b in edges:
        graph[a][b] = {'fm_f'}
    return graph


def graph_faults():
    """What lint_graph says of a graph, against what it must say."""
    p2p, coll = [f'src/core/p2p/{c}.c' for c in 'abc'], 'src/core/coll/a.c'
    ring = [(a, b) for a, b in zip(p2p, p2p[1:] + p2p[:1])]
    lint_graph.LARGER.clear()
    cases = {'two files': (ring[:1] + [(p2p[1], p2p[0])], ''),
             'three files': (ring, 'a cycle of 3 files'),
             'a chain': (ring[:2] + [(coll, p2p[0])], ''),
             'rooms': (ring[:2] + [(coll, p2p[0]), (p2p[2], coll)], 'a cycle of rooms: core/coll, core/p2p')}
    for name, (edges, wanted) in cases.items():
        found = ' '.join(lint_graph.faults_of('calls', graph_of(*edges)))
        if (wanted not in found) if wanted else found:
            yield f'lint_graph, {name}: {found or "nothing"}'


def main(argv):
    scratch, faults = os.path.abspath(argv[1]), []
    for n, (rule, path, text) in enumerate([('', '', '')] + BAD):
        shutil.rmtree(scratch, ignore_errors=True)
        for name, content in GOOD.items():
            write(scratch, name, content)
        if path:
            write(scratch, path, text)
        found = lint_text.check(scratch)
        rules = {line.split(': ')[1] for line in found}
        places = {line.split(':')[0] for line in found}
        if rules != ({rule} if rule else set()) or places != ({path} if path else set()):
            faults.append(f'case {n} ({rule} in {path}): found {found}')
    if {rule for rule, _, _ in BAD} != {r.__name__ for r in lint_text.RULES}:
        faults.append('a rule without a case, or a case without a rule')
    for message, is_good in MESSAGES.items():
        if is_good == bool(list(lint_commits.check(message))):
            faults.append(f'commit message {message!r}: {list(lint_commits.check(message))}')

    shutil.rmtree(scratch, ignore_errors=True)
    status, text = objects_find(scratch)
    for word in ('unsaid is state', 'fm_local is static', 'stray: a name', 'MPI_Send is defined'):
        if word not in text:
            faults.append(f'lint_objects did not find: {word}\n{text}')
    if status != 1 or ' said is state' in text or 'table is state' in text:
        faults.append(f'lint_objects: status {status}\n{text}')
    faults += graph_faults()
    print(*faults, sep='\n')
    print(f'{len(BAD) + 1} trees, {len(MESSAGES)} messages, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
