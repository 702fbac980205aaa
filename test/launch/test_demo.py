#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/demo after its build: it ends well, its table is true, its picture is the plate.

What a rank must have sent and received is counted here from examples/heat.c: strips of rows, a row
for each neighbour in each step, and the messages of the collectives by their algorithms.
"""
import os
import re
import tempfile
import time
import zlib

import harness
from harness import Test

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
N, WIDTH, HEIGHT, STEPS = 4, 320, 240, 150
ROW = WIDTH * 8
STRIP = ROW * HEIGHT // N
UNITS = {'': 1, 'B': 1, 'KiB': 2**10, 'MiB': 2**20, 'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}

# Messages that each of 4 ranks sends in one call with root 0, and the bytes of one of them.
COLLECTIVES = {
    'barrier dissemination': ([2, 2, 2, 2], 0),
    'bcast binomial': ([2, 0, 1, 0], 8),
    'reduce binomial': ([0, 1, 1, 1], 8),
    'allreduce doubling': ([2, 2, 2, 2], 8),
    'barrier shm': ([0] * N, 0),
    'bcast shm': ([0] * N, 0),
    'reduce shm': ([0] * N, 0),
    'allreduce shm': ([0] * N, 0),
}


def number(text):
    """A field of the table, and how far rounding to three digits can have moved it."""
    value, unit = re.fullmatch(r'([\d.,]+) ?(\w*)', text).groups()
    value = float(value.replace(',', '')) * UNITS[unit]
    return value, value * 0.006 if unit not in ('', 'B') else 0


FIELD = r'[\d.,]+(?: (?:[KM]i)?B| [num]?s)?'


def table(text):
    """Values per label, those of a label that is indented under "label/"."""
    rows, above = {}, ''
    for line in text.splitlines():
        indent, label, values = re.match(
            rf'( *)(.*?)((?:  +{FIELD}){{{N + 1}}})?(?: max)?$', line).groups()
        above = above if indent else label
        if values:
            rows[above + '/' + label if indent else label] = [
                number(v) for v in re.findall(FIELD, values)]
    return rows


class Demo(Test):
    def near(self, row, expected, what):
        for (value, slack), want in zip(row, expected):
            self.assertLessEqual(abs(value - want), slack, f'{what}: {row}, not {expected}')

    def run_demo(self, where):
        build = os.path.dirname(os.path.dirname(os.path.dirname(harness.MPIEXEC)))
        began = time.monotonic()
        job = self.start(ROOT + '/scripts/demo', '--built',
                         env={'BUILD_DIR': build, 'OUT_DIR': where})
        self.ends(job, 0)
        return job, (time.monotonic() - began) * 1e9

    def check_messages(self, rows):
        sent = [(N - 1 if r == 0 else 1) + STEPS * (1 if r in (0, N - 1) else 2) for r in range(N)]
        length = [STRIP * (N - 1 if r == 0 else 1) + ROW * STEPS * (1 if r in (0, N - 1) else 2)
                  for r in range(N)]
        calls = {label.split('/')[1]: row for label, row in rows.items()
                 if label.split('/')[0] == 'collectives, by algorithm'}
        self.assertEqual(len(calls), 4, calls)
        for name, row in calls.items():
            self.assertIn(name, COLLECTIVES, 'say there what its ranks send')
            self.assertEqual([v for v, _ in row], [1] * N + [N], name)
            for r in range(N):
                sent[r] += COLLECTIVES[name][0][r]
                length[r] += COLLECTIVES[name][0][r] * COLLECTIVES[name][1]
        rndv = [N - 1] + [1] * (N - 1)
        self.near(rows['messages sent'], sent + [sum(sent)], 'messages')
        self.near(rows['messages sent/rendezvous'], rndv + [sum(rndv)], 'strips')
        self.near(rows['messages sent/eager'], [s - r for s, r in zip(sent, rndv)], 'rows')
        self.near(rows['bytes sent'], length + [sum(length)], 'bytes')
        self.near(rows['bytes sent/rendezvous'], [STRIP * r for r in rndv], 'bytes of strips')
        # What a rank sends to a neighbour comes back from there but for the collectives.
        self.assertEqual(rows['messages received'][N], rows['messages sent'][N])
        self.assertEqual(rows['bytes received'][N], rows['bytes sent'][N])

    def check_others(self, rows, wall_ns):
        met = rows['matched a posted receive']
        early = rows.get('arrived unexpected', [(0, 0)] * (N + 1))
        for r in range(N + 1):
            self.assertEqual(met[r][0] + early[r][0], rows['messages received'][r][0])
            self.assertLessEqual(rows['polls/empty'][r][0], rows['polls'][r][0])
        asleep = rows.get('time blocked in MPI/sleeping', [(0, 0)] * N)
        for r in range(N):
            times = [rows[name][r] for name in ('time in MPI_Init', 'time blocked in MPI')]
            self.assertGreater(min(v for v, _ in times), 0)
            self.assertLess(sum(v - slack for v, slack in times), wall_ns)
            self.assertLessEqual(asleep[r][0] - asleep[r][1], sum(times[1]))

    def check_picture(self, name):
        with open(ROOT + '/examples/plate.pgm', 'rb') as f:
            text = re.sub(rb'#[^\n]*', b'', f.read())
        kind, width, height, most = re.match(rb'(P[25])\s+(\d+)\s+(\d+)\s+(\d+)\s', text).groups()
        self.assertEqual((int(width), int(height)), (WIDTH, HEIGHT))
        plate = text[-WIDTH * HEIGHT:] if kind == b'P5' else [int(x) for x in text.split()[4:]]
        with open(name, 'rb') as f:
            png = f.read()
        self.assertEqual(png[:8], b'\x89PNG\r\n\x1a\n')
        chunks, at = {}, 8
        while at < len(png):
            n = int.from_bytes(png[at:at + 4], 'big')
            self.assertEqual(zlib.crc32(png[at + 4:at + 8 + n]),
                             int.from_bytes(png[at + 8 + n:at + 12 + n], 'big'))
            chunks[png[at + 4:at + 8]] = png[at + 8:at + 8 + n]
            at += 12 + n
        self.assertEqual(chunks[b'IHDR'][:8], WIDTH.to_bytes(4, 'big') + HEIGHT.to_bytes(4, 'big'))
        raw = zlib.decompress(chunks[b'IDAT'])
        self.assertEqual(len(raw), (1 + 3 * WIDTH) * HEIGHT)
        pixels = [raw[y * (1 + 3 * WIDTH) + 1 + 3 * x:][:3] for y in range(HEIGHT)
                  for x in range(WIDTH)]
        heaters = [p for p, heat in zip(pixels, plate) if heat == int(most)]
        self.assertEqual(set(heaters), {b'\xff\xff\xff'})
        self.assertGreater(len(set(pixels)), 100)

    def test_demo(self):
        with tempfile.TemporaryDirectory() as d:
            job, wall_ns = self.run_demo(d)
            said = re.search(r'heat: 320 x 240 points, 4 ranks, 150 steps .*, mean heat ([\d.]+)',
                             job.out)
            self.assertTrue(said, job.out + job.err)
            self.assertRegex(job.err, r'fathom stat: heat, 4 ranks on \S+, .*, exit status 0')
            rows = table(job.err)
            self.check_messages(rows)
            self.check_others(rows, wall_ns)
            self.check_picture(d + '/heat.png')
            # One rank, which sends nothing, finds the same.
            alone = self.mpiexec(d + '/heat', 'examples/plate.pgm', d + '/alone.png', STEPS,
                                 cwd=ROOT)
            self.ends(alone, 0)
            self.assertIn(f'mean heat {said[1]},', alone.out)
            with open(d + '/heat.png', 'rb') as a, open(d + '/alone.png', 'rb') as b:
                self.assertEqual(a.read(), b.read())
            # The README shows these very commands.
            with open(ROOT + '/README.md') as f:
                readme = f.read()
            for line in re.findall(r'\$ fathom .*', job.out):
                self.assertIn(line.replace(d, 'build'), readme)


if __name__ == '__main__':
    harness.main()
