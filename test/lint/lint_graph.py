#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The graphs of calls and of includes, by file: what the compiler made of the source.

A file calls another where its object has a call or a jump to a function that the other defines. Function pointers do
not count: that is how calls go up. Fails on a cycle between rooms, and on a cycle of more than two files inside a room.

usage: lint_graph.py ROOT BUILD_DIR [ROOM]      ROOM: print who calls whom in it, and by which functions
"""
import re
import subprocess
import sys
from collections import defaultdict

from lint_objects import objects
from rooms import room_of
from tree import Tree

# The largest cycle of files that a room may have: two, and in these rooms what is left of older ones. It only shrinks.
LARGEST_CYCLE = 2
LARGER = {'core/dtype': 3}
DEFINED = re.compile(r'^[0-9a-f]+ (?:[gwu!].....F|l.....F) (\S+)\t[0-9a-f]+ +(?:\.(?:hidden|protected|internal) )?(\S+)$')
CALL = re.compile(r'^[0-9a-f]+ R_X86_64_PLT32 +([A-Za-z_]\w*)')


def symbols_of(path):
    """Functions that an object defines for others, and those that it calls."""
    table = subprocess.run(['objdump', '-t', path], check=True, stdout=subprocess.PIPE, text=True).stdout
    calls = subprocess.run(['objdump', '-r', path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return ({m[2] for m in map(DEFINED.match, table.splitlines()) if m},
            {m[1] for m in map(CALL.match, calls.splitlines()) if m})


def call_graph(root, build):
    """{caller: {callee: functions}}, by path of the source files."""
    found, owner = {}, {}
    for source, path, _ in objects(root, build):
        if source not in found:
            found[source] = symbols_of(path)
            owner.update((name, source) for name in found[source][0])
    graph = {source: defaultdict(set) for source in found}
    for source, (_, calls) in found.items():
        for name in calls:
            if owner.get(name, source) != source:
                graph[source][owner[name]].add(name)
    return graph


def include_graph(root):
    """{header or source: {header: its name}}, by path, of everything below src."""
    files = Tree(root).c_files('src/')
    known = {f.path for f in files}
    graph = {}
    for f in files:
        names = {'src/' + inc[1:-1] for _, inc in f.includes() if inc[0] == '"'}
        graph[f.path] = {name: {name} for name in names & known}
    return graph


def cycles(graph):
    """Strongly connected components of more than one node (Tarjan, without recursion)."""
    index, low, on, stack, found = {}, {}, set(), [], []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        while work:
            node, rest = work[-1]
            for child in rest:
                if child not in index:
                    index[child] = low[child] = len(index)
                    stack.append(child)
                    on.add(child)
                    work.append((child, iter(sorted(graph.get(child, ())))))
                    break
                if child in on:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = [stack.pop()]
                    while part[-1] != node:
                        part.append(stack.pop())
                    on.difference_update(part)
                    if len(part) > 1:
                        found.append(sorted(part))
    return found


def by_room(graph):
    """The same graph with rooms as nodes."""
    rooms = {room_of(path[len('src/'):]): {} for path in graph}
    for caller, callees in graph.items():
        for callee, names in callees.items():
            a, b = room_of(caller[len('src/'):]), room_of(callee[len('src/'):])
            if a != b:
                rooms[a].setdefault(b, set()).update(f'{caller} -> {name}' for name in names)
    return rooms


def faults_of(kind, graph):
    rooms = by_room(graph)
    for part in cycles(rooms):
        yield f'{kind}: a cycle of rooms: {", ".join(part)}'
        for a in part:
            for b in sorted(set(part) & set(rooms[a])):
                yield f'    {a} -> {b}: ' + '; '.join(sorted(rooms[a][b])[:4])
    for part in cycles(graph):
        rooms = {room_of(p[len('src/'):]) for p in part}
        if len(rooms) == 1 and len(part) > LARGER.get(*rooms, LARGEST_CYCLE):
            yield f'{kind}: a cycle of {len(part)} files: {" ".join(part)}'
            for a in part:
                for b in sorted(set(part) & set(graph[a])):
                    yield f'    {a.split("/")[-1]} -> {b.split("/")[-1]}: ' + ' '.join(sorted(graph[a][b])[:4])


def print_room(graph, room):
    for caller in sorted(graph):
        if room_of(caller[len('src/'):]) == room or caller.startswith(f'src/{room}/'):
            for callee in sorted(graph[caller]):
                print(f'{caller} -> {callee}: {" ".join(sorted(graph[caller][callee]))}')


def main(argv):
    calls, includes = call_graph(argv[1], argv[2]), include_graph(argv[1])
    if len(argv) > 3:
        print_room(calls, argv[3])
        return 0
    faults = [*faults_of('calls', calls), *faults_of('includes', includes)]
    print(*faults, sep='\n')
    print(f'{len(calls)} objects, {sum(map(len, calls.values()))} calls between files, {len(includes)} files that include, '
          f'{sum(not f.startswith(" ") for f in faults)} cycles too many')
    return 1 if faults or not calls else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
