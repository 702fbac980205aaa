#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank dies in each phase of a long message, over each way that it may take: the job ends with the text that says
so, and nothing is left. And what a container may forbid is done another way, with the same results."""
import json
import os
import re
import tempfile

import harness
from harness import Test

SHM, OFI, NET = {'FATHOM_TRANSPORT': 'shm'}, {'FATHOM_TRANSPORT': 'ofi'}, {'FATHOM_OFI_PROVIDER': 'net'}
NO_PUSH, FRAGMENTS = {'FATHOM_P2P_PUSH_PATIENCE': '0'}, {'FATHOM_OFI_USE_RMA': '0'}
PUSH = {'FATHOM_P2P_PUSH_PATIENCE': str(1 << 30), 'FATHOM_P2P_PUSH_MAX': str(1 << 30), 'FATHOM_SHM_HIGH_LATENCY_NS': '0'}

# Phases of strike.c and the rank that observes them.
ALWAYS = [('sent', 0), ('arrived', 1), ('recvd', 1), ('told', 1), ('done', 0)]
FETCHED = ALWAYS + [('answered', 1)]
PLACED = [('placing', 0), ('placing', 1)]
STREAMS = [('streaming', 0), ('streaming', 1)]

# What is set, the phases, and how many FINs tell the sender.
SHM_WAYS = {
    'the receiver copies': ({**SHM, **NO_PUSH, 'FATHOM_SHM_ASSIST_MIN': '0'}, FETCHED + [('copying', 1)], 1),
    'each copies its half': ({**SHM, **NO_PUSH}, FETCHED + [('copying', 0), ('copying', 1)], 1),
    'the sender pushes': ({**SHM, **PUSH}, FETCHED + PLACED, 1),
    'no single copy': ({**SHM, **NO_PUSH, 'FATHOM_SHM_CMA': '0'}, ALWAYS + [('answered', 0)] + PLACED, 0),
}
OFI_WAYS = {
    'tcp, read': (OFI, FETCHED + STREAMS, 1),
    'tcp, fragments': ({**OFI, **FRAGMENTS}, ALWAYS + [('answered', 0)] + STREAMS, 0),
    'net, read': ({**OFI, **NET}, FETCHED + STREAMS, 1),
    'net, fragments': ({**OFI, **NET, **FRAGMENTS}, [('answered', 0)] + STREAMS, 0),
}
# Nobody helps or pushes where the ranks do not run at the same time.
TWO_PROCESSORS = ('each copies its half', 'the sender pushes')

LONG = 8 << 20  # bytes of the message
AT_ONCE = 4     # jobs whose start is most of their time

# What may be said when rank {0} was killed, and the other notices before it is ended.
KILLED = r'mpiexec: rank {0} \(pid \d+, host \S+, \S+\) was killed by signal 9 \(Killed\) between MPI_Init and MPI_Finalize'
OTHERS = [r'mpiexec: terminating the other 1 rank',
          r'fathom: rank {1} of 2 \(pid \d+\) on host \S+: MPI_\w+ failed: MPI_ERR_PROC_ABORTED: process {0} is gone: '
          r'(?!no reason).+; the job ends, since .*',
          r'mpiexec: rank {1} \(pid \d+, host \S+, \S+\) aborted the job with status \d+']


def open_memory():
    """Inodes of unnamed memory that a process has open or mapped."""
    found = set()
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/maps') as f:
                found |= {line.split()[4] for line in f if '/memfd:' in line}
            found |= {str(os.stat(f'/proc/{name}/fd/{fd}').st_ino) for fd in os.listdir(f'/proc/{name}/fd')
                      if os.readlink(f'/proc/{name}/fd/{fd}').startswith('/memfd:')}
        except OSError:
            pass
    return found


def beside_actor(name):
    return os.path.join(os.path.dirname(harness.ACTOR), name)


class Struck(Test):
    """A message between two ranks, one of whom is killed."""

    def strike(self, env, phase, observer, victim):
        return self.mpiexec('-n', 2, beside_actor('strike'), phase, observer, victim, env=env)

    def struck(self, job, phase, observer, victim, n_fins):
        """The phase was there, and the job ended as it should."""
        self.ends(job, 137)
        found = re.findall(r'reached (\w+) at (\d) with (\d+) of (\d+), (\d+) FIN', job.out)
        self.assertEqual([f[:2] for f in found], [(phase, str(observer))], job.err)
        if phase in ('copying', 'placing', 'streaming'):
            self.assertTrue(0 < int(found[0][2]) < LONG == int(found[0][3]), found)
        self.assertEqual(found[0][4], str(n_fins if phase == 'told' else 0))
        lines = job.err.splitlines()
        self.assertEqual(sum(bool(re.fullmatch(KILLED.format(victim), line)) for line in lines), 1, job.err)
        for line in lines:
            self.assertTrue(any(re.fullmatch(text.format(victim, 1 - victim), line) for text in [KILLED] + OTHERS), line)
        self.assertEqual(job.left(), [])
        inodes = set(re.findall(r'memfd (\d+)', job.out))
        self.assertTrue(inodes)
        harness.until(lambda: not inodes & open_memory(), 'its memory is gone')

    def strike_all(self, ways, at_once):
        cases = [(name, n_fins, env, phase, observer, victim) for name, (env, phases, n_fins) in ways.items()
                 for phase, observer in phases for victim in (0, 1)]
        for k in range(0, len(cases), at_once):
            jobs = [(c, self.strike(*c[2:])) for c in cases[k:k + at_once]]
            for (name, n_fins, _, *case), job in jobs:
                with self.subTest(way=name, phase=case[0], observer=case[1], victim=case[2]):
                    self.struck(job, *case, n_fins)


class Fault(Struck):
    """Over shared memory."""

    def test_each_phase(self):
        ways = {k: v for k, v in SHM_WAYS.items() if os.cpu_count() > 1 or k not in TWO_PROCESSORS}
        self.strike_all(ways, 1)

    def test_short_collectives(self):
        for env in (SHM, OFI):
            job = self.mpiexec('-n', 3, beside_actor('victim'), 'short', env=env)
            self.ends(job, 137)
            self.assertRegex(job.err, r'rank 2 \(pid \d+, .*\) was killed by signal 9')

    def test_holder_of_a_lock(self):
        for env in (SHM, OFI, {'FATHOM_TRANSPORT_CLIQUES': '2'}):
            job = self.mpiexec('--grace', 60, '-n', 4, beside_actor('victim'), 'lock', env=env)
            self.ends(job, 137)
            self.assertEqual(sorted(job.out.splitlines()), [f'rank {r}: refused' for r in range(3)], job.err)

    def counts(self, *words, env):
        with tempfile.TemporaryDirectory() as d:
            job = self.start(harness.FATHOM, 'stat', '--json', '-o', d + '/out', harness.MPIEXEC, '-n', 2,
                             beside_actor('victim'), *words, env=env)
            self.ends(job, 0)
            self.assertEqual(job.out.count('all is well'), 2)
            with open(d + '/out') as f:
                return [r['pvars'] for r in json.load(f)['ranks']]

    def test_single_copy_is_forbidden(self):
        for pvars in self.counts('nobody', env={**SHM, **NO_PUSH}):
            self.assertGreater(pvars['shm_copies'], 0)
            self.assertEqual(pvars['shm_copies_forbidden'], 0)
        for env in SHM, {**SHM, **NO_PUSH}:
            for pvars in self.counts('forbidden', env=env):
                self.assertEqual(pvars['shm_copies'], 0)
                self.assertGreater(pvars['shm_copies_forbidden'], 0)


class Far(Struck):
    """Over libfabric and TCP."""

    def test_each_phase(self):
        self.strike_all(OFI_WAYS, AT_ONCE)


if __name__ == '__main__':
    harness.main()
