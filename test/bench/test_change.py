#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench/instruments compares series of runs in two ways."""
import os
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "bench", "harness"))

import change  # noqa: E402

# Three runs of three turns each. The machine is slower in the first run.
BASE = [[200, 204, 196], [100, 102, 98], [100, 100, 100]]
MINE = [[200, 204, 392], [110, 110, 110], [90, 90, 90]]


class Change(unittest.TestCase):
    def same(self, found, expected):
        self.assertEqual([round(value, 3) for value in found], expected)

    def test_runs_against_the_median_of_the_base(self):
        self.same(change.by_runs(MINE, BASE), [104, 10, -10])
        self.same(change.by_runs(BASE, BASE), [100, 0, 0])

    def test_turns_against_the_same_turn_of_the_base(self):
        self.same(change.by_turns(MINE, BASE), [0, 10, -10])
        self.same(change.by_turns(BASE, BASE), [0, 0, 0])


if __name__ == "__main__":
    unittest.main()
