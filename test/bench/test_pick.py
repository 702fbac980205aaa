#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench/run compares values that were taken alike, and its output has the lines that it goes by."""
import os
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "bench", "harness"))

import library  # noqa: E402
import pick  # noqa: E402
import show  # noqa: E402


def own(value, before, after):
    return value, [before, after], True


def around(value, before, after):
    return value, [before, after], False


def picked(unit, **row):
    found, _ = pick.table({("figure", 8): (row, unit)})["figure", 8]
    return {name: found[name] for name in row}


class Pick(unittest.TestCase):
    def test_the_lucky_moment_of_one_does_not_count(self):
        self.assertEqual(picked("ns", a=[own(197, 63, 60), own(196, 56, 58)], b=[own(434, 62, 60), own(371, 70, 66)],
                                c=[own(154, 22, 21), own(356, 66, 60)]), {"a": 196, "b": 371, "c": 356})

    def test_the_state_that_was_met_most_often_counts(self):
        near_and_far = {"a": [own(9, 20, 21), own(5, 60, 62), own(6, 61, 60)], "b": [own(7, 21, 20), own(4, 60, 60)]}
        self.assertEqual(picked("M/s", **near_and_far), {"a": 6, "b": 4})

    def test_a_state_that_changes_is_none(self):
        self.assertEqual(picked("ns", a=[own(1, 20, 60), own(3, 60, 60)], b=[own(5, 61, 60)]), {"a": 3, "b": 5})

    def test_without_a_common_state_the_best_count(self):
        self.assertEqual(picked("ns", a=[own(1, 20, 20), own(2, 22, 22)], b=[own(5, 60, 60)]), {"a": 1, "b": 5})

    def test_a_line_around_a_whole_run_decides_nothing(self):
        self.assertEqual(picked("ms", a=[around(1, 20, 20), around(3, 60, 60)], b=[around(5, 61, 60)]),
                         {"a": 1, "b": 5})

    def test_lines_are_read_and_shown(self):
        found = library.figures_of("latency 8 172.4 ns line 60 62\nrate 8 5 M/s\nnothing\n")
        self.assertEqual(found, {("latency", 8): (172.4, "ns", [60, 62]), ("rate", 8): (5.0, "M/s", None)})
        row = {("line", "a"): [60, 62], ("line", "b"): [20, 61]}
        self.assertEqual(show.state(row, ["a", "b", "c"]), "60 20>61 -")


if __name__ == "__main__":
    unittest.main()
