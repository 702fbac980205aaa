#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that other launchers start: who the ranks are, that they reach each other, how they end."""
import json
import re
import shutil
import tempfile
import unittest

import harness
from harness import Test


def nests(test, *launcher):
    job = test.start(*launcher, harness.ACTOR, 'init', 'barrier', 'nest', 'barrier', 'finalize')
    test.ends(job, 0)
    test.assertEqual(len(re.findall('nested 0', job.out)), 2)
    test.assertEqual(len(re.findall('nest 0 ', job.out)), 2)


@unittest.skipUnless(shutil.which('mpiexec.hydra'), 'mpiexec.hydra is not installed')
class Hydra(Test):
    """PMI-1. The second form makes two nodes of this host, so libfabric carries the messages."""

    hydra = 'mpiexec.hydra'

    def test_job(self):
        for options, transport in (([], 'shm'), (['-launcher', 'fork', '-hosts', 'n1:2,n2:2'],
                                                 'both')):
            with self.subTest(transport), tempfile.TemporaryDirectory() as d:
                job = self.start(harness.FATHOM, 'stat', '--json', '-o', d + '/out', self.hydra,
                                 *options, '-n', 4, harness.ACTOR, 'init', 'barrier', 'barrier',
                                 'finalize')
                self.ends(job, 0)
                with open(d + '/out') as f:
                    ranks = json.load(f)['ranks']
                self.assertEqual([r['rank'] for r in ranks], [0, 1, 2, 3])
                for r in ranks:
                    sends = r['pvars']['ofi_sends'] + r['pvars']['ofi_injects']
                    self.assertEqual(sends > 0, transport == 'both', r['pvars'])

    def test_abort(self):
        job = self.start(self.hydra, '-n', 2, harness.ACTOR, 'init', 'barrier', 'abort:7', 'wait')
        self.ends(job, 7)  # Hydra may lose the text on stderr

    def test_program_started_by_a_rank_runs_alone(self):
        nests(self, self.hydra, '-n', 2)


class Slurm(Test):
    """What srun sets in the environment, without srun."""

    def test_tasks_without_pmi(self):
        for task, n, is_warned in ('0', '2', True), ('1', '2', False), ('0', '1', False):
            job = self.start(harness.ACTOR, 'init', 'finalize',
                             env={'SLURM_PROCID': task, 'SLURM_STEP_NUM_TASKS': n})
            self.ends(job, 0)
            self.assertEqual('srun has started 2 tasks without PMI' in job.err, is_warned)
        job = self.mpiexec('-n', 2, harness.ACTOR, 'init', 'finalize',
                           env={'SLURM_PROCID': '0', 'SLURM_STEP_NUM_TASKS': '2'})
        self.ends(job, 0)
        self.assertEqual(job.err, '')


@unittest.skipUnless(shutil.which('orterun'), 'orterun is not installed')
class Orte(Test):
    """PMIx."""

    orterun = ['orterun', '--allow-run-as-root', '--oversubscribe']

    def test_job(self):
        with tempfile.TemporaryDirectory() as d:
            job = self.start(harness.FATHOM, 'stat', '--json', '-o', d + '/out', *self.orterun,
                             '-n', 3, harness.ACTOR, 'init', 'barrier', 'who', 'finalize')
            self.ends(job, 0)
            with open(d + '/out') as f:
                self.assertEqual([r['rank'] for r in json.load(f)['ranks']], [0, 1, 2])
        self.assertEqual(job.err, '')
        self.assertEqual(sorted(re.findall(r'of (\d+) ', job.out)), ['300', '301', '302'])

    def test_abort(self):
        job = self.start(*self.orterun, '-n', 2, harness.ACTOR, 'init', 'barrier', 'abort:7',
                         'wait')
        self.ends(job, 7)

    def test_program_started_by_a_rank_runs_alone(self):
        nests(self, *self.orterun, '-n', 2)


if __name__ == '__main__':
    harness.main()
