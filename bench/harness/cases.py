# SPDX-License-Identifier: BSD-3-Clause
"""What bench/run measures, and what Fathom must reach."""
from collections import namedtuple

# name: for --only. program: below bench/, without .c. rounds: at most so many.
# limit: seconds for one run. group: "all" (every library), "transports" (Fathom's, one by one),
# "none" (no MPI: the machine's own limits), "fathom".
Case = namedtuple("Case", "name program arguments ranks rounds limit group launched", defaults=("all", True))

CASES = [
    Case("limits", "p2p/limits", [], 1, 3, 20, "none", False),
    Case("latency", "p2p/latency", [], 2, 9, 30),
    Case("bandwidth", "p2p/bandwidth", [], 2, 9, 40),
    Case("rate", "p2p/rate", [], 2, 9, 30),
    Case("threads", "p2p/threads", [], 2, 3, 40),
    Case("depth", "p2p/depth", [], 2, 2, 60),
    Case("pack", "p2p/pack", [], 1, 2, 60),
    Case("pieces", "p2p/pieces", [], 2, 3, 40),
    Case("coll2", "coll/small", [], 2, 9, 30),
    Case("coll16", "coll/small", [], 16, 3, 40),
    Case("coll", "coll/table", ["4"], 2, 3, 90),
    Case("coll", "coll/table", ["4"], 4, 3, 120),
    Case("coll", "coll/table", ["3"], 16, 2, 300),
    Case("halo", "coll/halo", [], 2, 9, 40),
    Case("halo", "coll/halo", [], 8, 3, 60),
    Case("blocked", "p2p/blocked", [], 16, 1, 30),
    Case("busy", "p2p/busy", [], 2, 5, 60),
    Case("start", "p2p/hello", [], 1, 9, 20, "all", False),
    Case("start", "p2p/hello", [], 1, 9, 20),
    Case("start", "p2p/hello", [], 2, 9, 20),
    Case("start", "p2p/hello", [], 8, 9, 20),
    Case("start", "p2p/hello", [], 32, 4, 30),
    Case("memory", "p2p/hello", ["memory"], 2, 1, 20),
    Case("memory", "p2p/hello", ["memory"], 8, 1, 20),
    Case("memory", "p2p/hello", ["memory"], 32, 1, 30),
    Case("memory", "p2p/hello", ["memory"], 128, 1, 60),
    Case("files", "io/file", [], 2, 3, 60),
    Case("files", "io/file", [], 4, 3, 60),
    Case("rma", "rma/operations", [], 2, 5, 60),
    Case("instruments", "p2p/instruments", [], 2, 9, 30, "fathom"),
    Case("transports", "p2p/latency", ["8", "1024", "65536", "1048576"], 2, 9, 40, "transports"),
    Case("transports", "p2p/rate", [], 2, 3, 40, "transports"),
    Case("transports", "p2p/busy", [], 2, 3, 60, "transports"),
]

# --quick: the figures that have a goal, and few rounds.
QUICK = ("limits", "latency", "bandwidth", "rate", "coll16", "blocked", "start")

MORE_IS_BETTER = {"MB/s", "M/s"}

# (figure, parameter): how Fathom must stand to "peer", the better of the other MPIs; to "fi_pingpong"
# over the same provider; to "off", the same without the instruments; or by itself ("self").
GOALS = {
    ("latency", 8): ("peer", "<=", 0.8),
    ("latency", 65536): ("peer", "<=", 0.8),
    ("bandwidth", 65536): ("peer", ">=", 1.2),
    ("bandwidth", 1 << 20): ("peer", ">=", 1.3),
    ("rate_windowed", 8): ("peer", ">=", 1.3),
    ("allreduce_8B", 16): ("peer", "<=", 0.5),
    ("cpu_blocked_2s", 16): ("self", "<=", 0.1),
    ("busy_latency_8B", 1): ("peer", "<=", 1.2),
    ("busy_allreduce_8B", 1): ("peer", "<=", 1.2),
    ("busy_barrier", 1): ("peer", "<=", 1.2),
    ("busy_latency_8B", 12): ("peer", "<=", 1.2),
    ("busy_allreduce_8B", 12): ("peer", "<=", 1.2),
    ("busy_barrier", 12): ("peer", "<=", 1.2),
    ("start_alone", 1): ("self", "<=", 5.0),
    ("start", 2): ("peer", "<=", 0.5),
    ("start", 8): ("self", "<=", 20.0),
    ("start", 32): ("peer", "<=", 0.5),
    ("memory_per_rank", 32): ("peer", "<", 1.0),
    ("rma_allocate_put", 8): ("peer", "<=", 0.8),
    ("rma_allocate_get", 8): ("peer", "<=", 0.8),
    ("rma_allocate_accumulate", 8): ("peer", "<=", 0.8),
    ("rma_allocate_fetch_and_op", 8): ("peer", "<=", 0.8),
    ("rma_allocate_accumulate", 65536): ("peer", "<=", 0.8),
    ("rma_allocate_put_rate", 8): ("peer", ">=", 1.2),
    ("rma_allocate_fence", 8): ("peer", "<=", 0.6),
    ("rma_allocate_post_start", 8): ("peer", "<=", 0.6),
    ("rma_allocate_get_from_busy", 8): ("self", "<=", 2000.0),
    ("rma_create_put", 8): ("peer", "<=", 0.7),
    ("rma_create_get", 8): ("peer", "<=", 0.7),
    ("rma_create_put_bandwidth", 65536): ("peer", ">=", 1.2),
    ("rma_create_get_bandwidth", 65536): ("peer", ">=", 1.2),
    ("rma_create_put_bandwidth", 1 << 20): ("peer", ">=", 1.2),
    ("rma_create_get_bandwidth", 1 << 20): ("peer", ">=", 1.2),
    ("rma_create_get_from_busy", 8): ("self", "<=", 2000.0),
    ("instruments_on", 8): ("off", "<=", 1.01),
}
PROVIDER_GOALS = {("tcp", "latency", 8): 1.15}

# The transports apart: name, environment, and what fi_pingpong is asked for beside it.
TRANSPORTS = [
    ("shm", {"FATHOM_TRANSPORT": "shm"}, None),
    ("ofi/tcp", {"FATHOM_TRANSPORT": "ofi", "FATHOM_OFI_PROVIDER": "tcp;ofi_rxm"}, "tcp;ofi_rxm"),
    ("ofi/net", {"FATHOM_TRANSPORT": "ofi", "FATHOM_OFI_PROVIDER": "net"}, "net"),
    ("ofi/shm", {"FATHOM_TRANSPORT": "ofi", "FATHOM_OFI_PROVIDER": "shm"}, "shm"),
]
PINGPONG = {8: 10000, 1024: 10000, 65536: 2000, 1 << 20: 300}
