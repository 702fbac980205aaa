#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the house style that can be seen in the text of the tree.

usage: lint_text.py ROOT
Prints file:line: rule: what, and ends with 1 if there was any. To add a rule: a generator in RULES
and a row in test_lint.py that it must find.
"""
import os
import re
import sys

import rooms
from tree import Tree

HERE = os.path.dirname(os.path.abspath(__file__))

# Pure tables may be as long as they have rows; mpi.h is one.
TABLES = {'src/core/api/unsupported.c', 'src/core/dtype/op_kernels.c', 'include/mpi.h'}
LONGEST_C, LONGEST_H, LONGEST_INSTALLED, LONGEST_FUNCTION, COLUMNS = 1000, 250, 500, 60, 100
# Tests that still hold a longer function; the list only shrinks.
LONG_TESTS = {'test/unit/mpit/test_mpit_list.c', 'test/unit/transport/test_shm_oracle.c'}
# Lines of #if that functions may hold: the two options of the build.
OPTIONS = re.compile(r'\bFM_STATS\b|\bFM_CHECKS\b')
# Functions are called fm_<noun>_<verb>, the noun being their header's name; or one of these nouns.
NOUNS = {
    'api': ['lock', 'enter', 'leave'],
    'attr': ['keyval'],
    'bsend': ['ibsend'],
    'coll': ['allgather', 'allreduce', 'alltoall', 'barrier', 'bcast', 'gather', 'reduce', 'scatter',
             'side'],
    'coll_algo': ['accu'],
    'coll_call': ['side', 'buf'],
    'coll_sched': ['step'],
    'compiler': ['assert', 'container'],
    'errhandler': ['error', 'raise'],
    'handle': ['kind', 'object'],
    'mpit_api_common': ['string', 'datatype', 'info'],
    'mpit_internal': ['category'],
    'mpit_live': ['tool', 'follower', 'raised'],
    'mpit_registration': ['context'],
    'mpit_root': ['lock', 'unlock', 'is_ready', 'warn', 'host', 'env', 'got', 'grow'],
    'mpit_slots': ['slots'],
    'pack_copy': ['shift'],
    'p2p_counters': ['hist'],
    'pack': ['copy', 'unpack'],
    'packet': ['wire'],
    'proto': ['wire'],
    'probe': ['improbe', 'mprobe', 'imrecv', 'mrecv', 'message'],
    'progress': ['test'],
    'recv': ['irecv', 'probe', 'iprobe', 'sendrecv'],
    'request': ['status'],
    'send': ['isend'],
    'sendrecv': ['isendrecv'],
    'status': ['fail', 'why'],
    'sync': ['lock', 'cpu', 'now'],
    'transport': ['ep', 'shm', 'ofi'],
    'unexpected': ['unexp'],
}
# Headers of C and POSIX.
LIBC = {word + '.h' for word in '''
    aio assert complex cpio ctype dirent dlfcn errno error fcntl features fenv float fmtmsg fnmatch ftw
    getopt glob grp iconv inttypes iso646 langinfo libgen limits link locale malloc math monetary mqueue
    ndbm netdb nl_types poll pthread pwd regex sched search semaphore setjmp signal spawn stdalign stdarg
    stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings stropts syslog tar termios
    tgmath threads time trace uchar ulimit unistd utime utmpx wchar wctype wordexp'''.split()}
# A tool is a user: what it calls are calls of a user.
API = ('src/core/api/', 'src/mpit/mpit_api_', 'src/tools/')
# The environment is read where variables are loaded, by launchers and tools, and by the back ends
# that take over from a launcher.
ENVIRONMENT = ('src/mpit/', 'src/launch/', 'src/tools/', 'src/core/runtime/pm')
# Words in pieces, so that this file is clean itself.
MACHINE = [r'/wo' + 'rk/', r'/tmp/f' + 'm\\b', r'/ro' + r'ot/\w', r'/ho' + r'me/\w']
HOSTS = ['py' + 'pi.org', 'python' + 'hosted.org', 'npm' + 'js.', 'crates' + '.io', 'proxy.go' + 'lang',
         'deb.deb' + 'ian.org', 'arti' + 'factory', 'ghcr' + '.io', 'docker' + '.io']
FORBIDDEN = re.compile('|'.join(MACHINE + [re.escape(h) for h in HOSTS]))


def mpi_names():
    with open(os.path.join(HERE, '..', 'abi', 'functions.txt'), encoding='ascii') as f:
        return re.findall(r'^\w+ MPI_(\w+)\(', f.read(), flags=re.M)


MPI_CALL = re.compile(r'\bP?MPI_(' + '|'.join(mpi_names()) + r')\s*\(')


def spdx(tree):
    for f in tree.files:
        lines = f.text.splitlines() + ['', '', '']
        if f.is_c and f.path.startswith(('src/', 'include/', 'test/', 'bench/', 'examples/')):
            if lines[0] != '/* SPDX-License-Identifier: BSD-3-Clause */':
                yield f, 1, 'the first line is the SPDX line'
            elif not lines[1].startswith('/*'):
                yield f, 2, 'the second line begins the sentence that says what the file is for'
        elif f.name.endswith(('.py', '.sh')) or lines[0].startswith('#!'):
            if '# SPDX-License-Identifier: BSD-3-Clause' not in lines[:2]:
                yield f, 1, 'the SPDX line is missing'


def sizes(tree):
    for f in tree.c_files():
        limit = LONGEST_H if f.is_header else LONGEST_C
        if f.path.startswith('include/'):
            limit = LONGEST_INSTALLED  # these carry the whole documentation of their functions
        n_lines = f.text.count('\n')
        if n_lines > limit and f.path not in TABLES:
            yield f, n_lines, f'{n_lines} lines, the limit is {limit}'
        for n, line in f.lines():
            if len(line) > COLUMNS:
                yield f, n, f'{len(line)} columns, the limit is {COLUMNS}'


def switch_lines(body):
    """Lines of a body that lie in a switch of many cases: a flat table that may be long."""
    n, i = 0, 0
    while i < len(body):
        m = re.match(r'( *)switch \(', body[i])
        if not m:
            i += 1
            continue
        end = next((j for j in range(i, len(body)) if body[j].rstrip() == m[1] + '}'), i)
        if sum(bool(re.match(r' *(case .*|default):', line)) for line in body[i:end]) >= 8:
            n += end - i
        i = end + 1
    return n


def functions(tree):
    for f in tree.c_files('src/', 'test/', 'bench/', 'examples/'):
        code = f.code.splitlines()
        for start, end in f.functions():
            body = code[start:end - 1]
            length = len(body) - switch_lines(body)
            if length > LONGEST_FUNCTION and f.path not in LONG_TESTS:
                yield f, start, f'a function of {length} lines, the limit is {LONGEST_FUNCTION}'
            if not f.path.startswith('src/'):
                continue
            for n, line in enumerate(body, start + 1):
                if re.match(r'\s*#\s*(if|ifdef|ifndef|elif)\b', line) and not OPTIONS.search(line) \
                        and f.name != 'compiler.h':
                    yield f, n, 'no #if in functions: let the build choose a file'


def base_names(tree):
    """Of all that can be linked into one program: debuggers and profilers show base names. A build
    folder on the path of includes must not hide a header of libc."""
    seen = {}
    for f in tree.c_files('src/', 'include/', 'test/unit/', 'test/support/'):
        if f.name in LIBC:
            yield f, 1, f'libc has <{f.name}>'
        if f.name in seen:
            yield f, 1, f'{seen[f.name]} has the same base name'
        seen.setdefault(f.name, f.path)


def includes(tree):
    yield from rooms.check(tree)


def jumps(tree):
    for f in tree.c_files():
        for n, text in f.macros():
            if re.search(r'\bgoto\b|\blongjmp\b', text):
                yield f, n, 'no jump inside a macro'


def todo(tree):
    for f in tree.files:
        if not f.name.endswith(('.c', '.h', '.py', '.sh', '.in', 'meson.build')):
            continue
        for n, line in f.lines():
            if re.search(r'\b(TO' + 'DO|FIX' + r'ME|XX' + r'X)\b(?!.*#\d)', line):
                yield f, n, 'say which issue: #number'


def standard_names(tree):
    for f in tree.c_files('src/'):
        if f.path.startswith(API):
            continue
        for n, line in f.code_lines():
            m = MPI_CALL.search(line)
            if m:
                yield f, n, f'MPI_{m[1]} is defined and called in core/api and mpit_api_* only'


def visibility(tree):
    """mpi.h carries no marks: where its functions are defined, it stands between push and pop."""
    push = '#pragma GCC visibility push(default)'
    for f in tree.c_files('src/core/api/', 'src/mpit/mpit_api_'):
        lines = f.text.splitlines()
        for n, inc in f.includes():
            before = [line for line in lines[:n - 1] if line.startswith('#')]
            if inc == '<mpi.h>' and (not before or push not in before[-2:]):
                yield f, n, 'mpi.h stands behind ' + push
        if f.folder == 'src/core/api' and not f.is_header and f.name != 'unsupported.c' and \
                not api_first(tree, f):
            yield f, 1, 'the first include leads to core/api/api.h first: mpi.h comes in visible'


def api_first(tree, f):
    """Is core/api/api.h the first header that this file sees, by itself or by its own header?"""
    # Headers of libc do not lead to mpi.h.
    first = next((inc for _, inc in f.includes() if inc[0] == '"' or inc == '<mpi.h>'), '')
    if first == '"core/api/api.h"':
        return True
    own = next((h for h in tree.files if h.path == 'src/' + first.strip('"') and
                h.folder == f.folder and h is not f), None)
    return own is not None and api_first(tree, own)


def environment(tree):
    for f in tree.c_files('src/'):
        for n, line in f.code_lines():
            if re.search(r'\b(secure_)?getenv\s*\(|\benviron\b', line) and \
                    not f.path.startswith(ENVIRONMENT):
                yield f, n, 'the environment is read in mpit, launch, tools and pm_* only: ' \
                            'declare a control variable'
            if re.search(r'\bgetenv\s*\(', line) and f.path.startswith(ENVIRONMENT):
                yield f, n, 'secure_getenv: the program may be setuid'


def names_in_headers(tree):
    for f in tree.c_files('src/'):
        if not f.is_header:
            continue
        for n, line in f.code_lines():
            m = re.match(r'(?:struct|union|enum) (\w+) \{', line) or \
                re.match(r'#\s*define (\w+)', line)
            if m and not m[1].lower().startswith(('fm_', 'fathom_')):
                yield f, n, f'{m[1]}: names in headers begin with fm_ or FM_'
    for f in tree.c_files('src/'):
        for n, line in f.code_lines():
            if re.match(r'\s*typedef (struct|union|enum)\b', line):
                yield f, n, 'no typedef of structs, unions and enums'


def nouns(tree):
    """fm_<noun>_<verb>: a word of the header's name, of its folder, or of a unit of the folder.

    The registry is linked into the library whole: its names begin with fm_t_, so that none exists twice."""
    units = {}
    for f in tree.c_files('src/'):
        words = units.setdefault(f.folder, {os.path.basename(f.folder)})
        words.update([f.name[:-2], *f.name[:-2].split('_')] if f.name.endswith('.c') else [])
    for f in tree.c_files('src/'):
        own = f.name[:-2]
        allowed = [own, *own.split('_'), *NOUNS.get(own, []), *units[f.folder]]
        for n, line in f.code_lines():
            # A prototype or an inline function; a call stands indented.
            m = re.match(r'[a-zA-Z][\w\s*]*?\b(?:fm_t|fm|fathom)_(\w+)\(', line)
            if f.is_header and m and not any((m[1] + '_').startswith(a + '_') for a in allowed):
                yield f, n, f'fm_{m[1]}: functions of {f.name} are called fm_{own}_<verb>'
            m = re.search(r'\b(fm_(?!t_)\w+|FM_(?!T_|SYSCONFDIR)\w+)', line)
            if f.path.startswith('src/mpit/') and m:
                yield f, n, f'{m[1]}: names of the registry begin with fm_t_ or FM_T_'


def sleeping(tree):
    for f in tree.files:
        if not f.path.startswith('test/') or f.path.startswith('test/lint/'):
            continue
        text = f.code_lines() if f.is_c else f.lines()
        for n, line in text:
            if re.search(r'\b(u|nano|thrd_|clock_nano|time\.)?sleep\s*\(', line):
                yield f, n, 'no sleeping in tests: wait for what must happen'


def machine(tree):
    for f in tree.files:
        for n, line in f.lines():
            m = FORBIDDEN.search(line)
            if m:
                yield f, n, f'"{m[0]}" is of one machine or one network'


RULES = [spdx, sizes, functions, base_names, includes, jumps, todo, standard_names, visibility,
         environment, names_in_headers, nouns, sleeping, machine]


def check(root):
    tree = Tree(root)
    return [f'{f.path}:{n}: {rule.__name__}: {text}' for rule in RULES for f, n, text in rule(tree)]


def main(argv):
    faults = check(argv[1])
    print(*faults, sep='\n')
    print(f'{len(RULES)} rules, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
