# SPDX-License-Identifier: BSD-3-Clause
"""Which of the values of several rounds are compared.

The best of each library, but of those that were taken alike: a cache line took about as long from core to core. On a
virtual machine that changes by a factor of three within seconds, and with it every figure that depends on it, so the
best of one library may come from a moment that no other had. Where no state was met by all, the best of each is taken,
and the table shows how long the line took for each.
"""
from cases import MORE_IS_BETTER

ALIKE = 1.5  # two lines are, when the longer takes less than so many times the shorter


def near(a, b):
    """Are two lines alike?"""
    return max(a, b) < ALIKE * min(a, b)


def better(unit, values):
    return max(values) if unit in MORE_IS_BETTER else min(values)


def steady(line):
    """The state in which a value was taken, in ns; None: it changed meanwhile, or was not measured."""
    known = [ns for ns in line or () if ns]
    return sum(known) / len(known) if len(known) == 2 and near(*known) else None


def alike(row):
    """The values of each column that were taken in the one state that was met most often by all; None: there is none."""
    states = [steady(line) for values in row.values() for _, line, _ in values]
    best, most = None, 0
    for state in sorted({s for s in states if s}):
        among = {column: [v for v in values if steady(v[1]) and near(steady(v[1]), state)]
                 for column, values in row.items()}
        n = sum(map(len, among.values()))
        if all(among.values()) and n > most:
            best, most = among, n
    return best


def table(rounds):
    """{key: ({column: [(value, line, is its own)]}, unit)} with one value for each column, and ("line", column)."""
    picked = {}
    for key, (row, unit) in rounds.items():
        # A line around a whole run says little of its figures: then the plain best.
        has_own = all(is_own for values in row.values() for _, _, is_own in values)
        among = (alike(row) if has_own and len(row) > 1 else None) or row
        out = {}
        for column, values in among.items():
            value = better(unit, [v for v, _, _ in values])
            out[column] = value
            out["line", column] = next(line for v, line, _ in values if v == value)
        picked[key] = (out, unit)
    return picked
