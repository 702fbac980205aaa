#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that other launchers start: who the ranks are, that they reach each other, how they end."""
import json
import shutil
import sys
import tempfile

import harness
from harness import Test


class Hydra(Test):
    """PMI-1. The second form makes two nodes of this host, so libfabric carries the messages."""

    hydra = shutil.which('mpiexec.hydra')

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
        self.ends(job, 7)
        self.assertIn('MPI_Abort was called on MPI_COMM_WORLD', job.err)


if __name__ == '__main__':
    if not Hydra.hydra:
        print('mpiexec.hydra is not installed')
        sys.exit(77)
    harness.main()
