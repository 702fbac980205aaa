#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of bench/ measure a build and print their tables; how fast it is does not matter here.

    test_scripts.py BUILD
"""
import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(TOP, "bench", "harness"))
sys.dont_write_bytecode = True

import library  # noqa: E402
from cases import Case  # noqa: E402


def lines_of(script, *args):
    """What the script prints, as {first column: the rest}."""
    done = subprocess.run([os.path.join(TOP, "bench", script)] + list(args), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=100, check=False)
    out, err = done.stdout.decode(), done.stderr.decode()
    if done.returncode:
        raise AssertionError("%s: status %d\n%s%s" % (script, done.returncode, out, err))
    return {line.split("  ")[0].strip(): line.split("  ", 1)[1].split() for line in out.splitlines() if "  " in line}


class Scripts(unittest.TestCase):
    def test_reads_of_all_variables(self):
        found = lines_of("instruments", "--reads", "--no-build", "--build", BUILD)
        n, ns, unit = found["readreset_median"]
        self.assertGreater(int(n), 200)
        self.assertGreater(float(ns), 0)
        self.assertEqual(unit, "ns")
        self.assertIn("read_above_10_ns", found)

    def test_what_tools_cost(self):
        found = lines_of("instruments", "--runs", "2", "--no-build", "--build", BUILD)
        for row in ("usual build, no tool", "the same once more", "all handles started", "one event counted"):
            # Three figures: the median, "+1.2 %", "+0.8 to +1.6".
            median, change, percent, low, to, high = found[row][:6]
            self.assertEqual((len(found[row]), percent, to), (18, "%", "to"))
            self.assertGreater(float(median), 0)
            self.assertTrue(float(low) <= float(change) <= float(high))

        def changes(row):
            return [float(cell) for k, cell in enumerate(found[row]) if k % 6 in (1, 3, 5)]
        # The base against itself; a callback costs a large part of the rates.
        self.assertEqual(changes("usual build, no tool"), [0] * 9)
        self.assertNotEqual(changes("one event counted"), [0] * 9)

    def test_what_tools_cost_run_by_run(self):
        found = lines_of("instruments", "--alternate", "--runs", "3", "--no-build", "--build", BUILD)
        base = float(found["usual build, no tool"][6])
        for row in "usual build, no tool", "the same once more", "one event counted":
            # The rate of windows: its change is that of the medians, of which four digits are shown.
            ratio = float(found[row][6]) / base
            self.assertAlmostEqual(float(found[row][7]), 100 * (ratio - 1), delta=0.1 + 0.1 * ratio)

    def test_no_runs(self):
        with self.assertRaisesRegex(AssertionError, "(?s)status 2.*--runs: at least one"):
            lines_of("instruments", "--runs", "0", "--no-build", "--build", BUILD)

    def test_a_job_that_misses_its_turn(self):
        lib = library.fathom(BUILD)
        with tempfile.TemporaryDirectory() as out:
            exe = lib.compile("p2p/instruments", out)
            case = Case("instruments", "p2p/instruments", ["1"], 2, 1, 60, "fathom")
            with self.assertRaisesRegex(library.Failed, "exit status 1: .*does not pass its turn"):
                library.measure_in_turns([(lib, exe, case), (lib, "/bin/false", case)])

    def test_run_without_peers(self):
        with tempfile.TemporaryDirectory() as out:
            found = lines_of("run", "--no-install", "--no-build", "--build", BUILD, "--peers", "", "--rounds", "1",
                             "--only", "latency", "--out", out)
            self.assertTrue(os.path.exists(os.path.join(out, "results.json")))
        self.assertGreater(float(found["latency, 8"][2]), 0)

    def test_libfabric_beside(self):
        found = lines_of("ofi_beside", "--build", BUILD, "--rounds", "1", "--provider", "tcp", "8")
        theirs, _, ours, _, ratio = [float(v) for v in next(iter(found.values()))[-5:]]
        self.assertAlmostEqual(ratio, ours / theirs, delta=0.01 + 0.002 * ratio)


if __name__ == "__main__":
    unittest.main()
