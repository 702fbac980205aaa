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
        for row in ("usual build, no tool", "all handles started", "one event counted"):
            self.assertEqual(len(found[row]), 12)  # two figures, median and best, with the change of each in %
            self.assertGreater(float(found[row][0]), 0)

    def test_run_without_peers(self):
        with tempfile.TemporaryDirectory() as out:
            found = lines_of("run", "--no-install", "--no-build", "--build", BUILD, "--peers", "", "--rounds", "1",
                             "--only", "latency", "--out", out)
            self.assertTrue(os.path.exists(os.path.join(out, "results.json")))
        self.assertGreater(float(found["latency, 8"][2]), 0)

    def test_libfabric_beside(self):
        found = lines_of("ofi_beside", "--build", BUILD, "--rounds", "1", "--provider", "tcp", "8")
        theirs, _, ours, _, ratio = [float(v) for v in next(iter(found.values()))[-5:]]
        self.assertAlmostEqual(ratio, ours / theirs, delta=0.02)


if __name__ == "__main__":
    unittest.main()
