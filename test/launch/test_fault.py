#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank dies in each phase of a long message, over each way that it may take: the job ends with the text that says
so, and nothing is left. And what a container may forbid is done another way, with the same results."""
import json
import os
import tempfile

import harness
from harness import Test

WAYS = {
    'single copy': {'FATHOM_TRANSPORT': 'shm'},
    'pieces': {'FATHOM_TRANSPORT': 'shm', 'FATHOM_SHM_CMA': '0'},
    'libfabric': {'FATHOM_TRANSPORT': 'ofi'},
}
PHASES = {'asked': 0, 'posted': 1, 'reader': 1, 'writer': 0, 'last': 1, 'short': 2}


class Fault(Test):
    @property
    def victim(self):
        return os.path.join(os.path.dirname(harness.ACTOR), 'victim')

    def test_death_in_each_phase(self):
        for way, env in WAYS.items():
            for phase, rank in PHASES.items():
                with self.subTest(way=way, phase=phase):
                    job = self.start(harness.MPIEXEC, '-n', 3, self.victim, phase, env=env)
                    self.ends(job, 137)
                    self.assertRegex(job.err, rf'rank {rank} \(pid \d+, .*\) was killed by signal 9')
                    self.assertEqual(job.left(), [])

    def counts(self, *words, env):
        with tempfile.TemporaryDirectory() as d:
            job = self.start(harness.FATHOM, 'stat', '--json', '-o', d + '/out', harness.MPIEXEC, '-n', 2,
                             self.victim, *words, env=env)
            self.ends(job, 0)
            self.assertEqual(job.out.count('all is well'), 2)
            with open(d + '/out') as f:
                return [r['pvars'] for r in json.load(f)['ranks']]

    def test_single_copy_is_forbidden(self):
        env = WAYS['single copy']
        for pvars in self.counts('nobody', env=env):
            self.assertGreater(pvars['shm_copies'], 0)
            self.assertEqual(pvars['shm_copies_forbidden'], 0)
        for pvars in self.counts('forbidden', env=env):
            self.assertEqual(pvars['shm_copies'], 0)
            self.assertGreater(pvars['shm_copies_forbidden'], 0)


if __name__ == '__main__':
    harness.main()
