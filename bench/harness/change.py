# SPDX-License-Identifier: BSD-3-Clause
"""How much a figure changed, in per cent: a series of runs, each with a value for every turn, against another series."""
import statistics


def by_runs(mine, base):
    """The change of each run's median against the median of the base's runs."""
    middle = statistics.median(statistics.median(run) for run in base)
    return [100 * (statistics.median(run) / middle - 1) for run in mine]


def by_turns(mine, base):
    """The change of each run, turn by turn."""
    return [100 * (statistics.median(m / b for m, b in zip(*runs)) - 1) for runs in zip(mine, base)]
