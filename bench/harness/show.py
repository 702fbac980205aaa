# SPDX-License-Identifier: BSD-3-Clause
"""Tables and plot of what bench/run has measured."""
import math

from cases import GOALS, MORE_IS_BETTER, PROVIDER_GOALS
from pick import better, near

COLOURS = {"fathom": "#0b6e99", "mpich": "#c2571a", "openmpi": "#5a8f29", "limit": "#888888"}


def number(v):
    return "-" if v is None else "%.0f" % v if v >= 1000 else "%.3g" % v


def size(n):
    return "%d MiB" % (n >> 20) if n >= 1 << 20 else "%d KiB" % (n >> 10) if n >= 1024 else "%d" % n


def label(figure, parameter):
    of_ranks = figure.split("_")[0] in ("start", "memory", "allreduce", "barrier", "bcast", "cpu")
    what = "%d ranks" % parameter if of_ranks else str(parameter) if figure.startswith("depth") else size(parameter)
    return "%s, %s" % (figure.replace("_", " "), what if parameter != 1 or not of_ranks else "1 rank")


def against(results, key, names):
    """What Fathom is held against: the goal's own partner, else the better peer. None: nothing is there."""
    row, unit = results[key]
    to = GOALS.get(key, ("peer",))[0]
    if to == "self":
        return 1.0
    if to == "off":
        off = results.get(("instruments_off", key[1]))
        return off and off[0].get("fathom")
    theirs = [row[n] for n in names if n in row and n not in ("fathom", "limit")]
    return better(unit, theirs) if theirs else None


def verdict(value, goal):
    _, how, bound = goal
    is_met = {"<=": value <= bound, "<": value < bound, ">=": value >= bound}[how]
    return "%s %g  %s" % (how, bound, "met" if is_met else "NOT MET")


def limit_of(results, key):
    """The machine's own limit for this figure."""
    name = {("latency", 8): ("cacheline", 8)}.get(key, ("memcpy", key[1]) if key[0] == "bandwidth" else None)
    return results[name][0].get("limit") if name in results else None


def state(row, names):
    """Nanoseconds of a cache line around the best run of each, in the order of the columns."""
    def one(line):
        known = sorted(ns for ns in line or () if ns is not None)
        if not known:
            return "-"
        return "%d" % known[0] if near(known[0], known[-1]) else "%d>%d" % tuple(line)
    return " ".join(one(row.get(("line", n))) for n in names)


def rows(results, names):
    """(label, unit, direction, values, state, limit, ratio, verdict) for each figure that the libraries gave."""
    for key, (row, unit) in results.items():
        if "fathom" not in row and not any(n in row for n in names):
            continue
        mine, theirs = row.get("fathom"), against(results, key, names)
        ratio = mine / theirs if mine is not None and theirs else None
        is_self = GOALS.get(key, ("",))[0] == "self"
        way = "" if unit == "handles" else "more" if unit in MORE_IS_BETTER else "less"
        yield (label(*key), unit, way, [row.get(n) for n in names], state(row, names),
               limit_of(results, key), None if is_self else ratio,
               verdict(ratio, GOALS[key]) if key in GOALS and ratio is not None else "")


def print_table(head, lines, out=print):
    widths = [max(len(str(line[i])) for line in [head] + lines) for i in range(len(head))]
    for line in [head] + lines:
        out("  ".join(str(cell).ljust(w) if i == 0 or i == len(head) - 1 else str(cell).rjust(w)
                      for i, (cell, w) in enumerate(zip(line, widths))).rstrip())


def table(results, libraries):
    names = [lib.name for lib in libraries]
    head = ["figure", "unit", "better"] + [lib.title for lib in libraries] + ["line, ns", "machine", "ratio", "goal"]
    lines = [[text, unit, way] + [number(v) for v in values]
             + [line, number(limit), "%.2f" % ratio if ratio else "", goal]
             for text, unit, way, values, line, limit, ratio, goal in rows(results, names)]
    if lines:
        print("Ratio: Fathom by the better peer. Machine: a bare cache line from core to core, and memcpy.\n"
              "Line: the bare cache line just before and after the value of each library; two figures where they "
              "differ. Values\nare compared at like lines where all libraries met such; those at unlike ones are not "
              "comparable.\n")
        print_table(head, lines)


def means(results, libraries):
    """The collectives of coll/table, whose figures are called npN_KIND: one ratio for each number of ranks."""
    names, ratios = [lib.name for lib in libraries], {}
    for key, (row, _) in results.items():
        theirs = against(results, key, names)
        if key[0].startswith("np") and theirs and row.get("fathom"):
            ratios.setdefault(int(key[0][2:].split("_")[0]), []).append(row["fathom"] / theirs)
    for ranks, values in sorted(ratios.items()):
        print("\nCollectives of %d ranks: geometric mean of %d ratios %.2f, the worst %.2f." % (
            ranks, len(values), math.exp(sum(map(math.log, values)) / len(values)), max(values)))


def transport_table(results):
    """results: {(transport, figure, parameter): {"fathom": x, "fi_pingpong": y}, unit}."""
    lines = []
    for (transport, figure, parameter), (row, unit) in results.items():
        ours, theirs = row.get("fathom"), row.get("fi_pingpong")
        ratio = ours / theirs if ours and theirs else None
        bound = PROVIDER_GOALS.get((transport.replace("ofi/", ""), figure, parameter))
        lines.append([transport, label(figure, parameter), unit, number(ours), number(theirs) if theirs else "",
                      state(row, [n for n in ("fathom", "fi_pingpong") if n in row]),
                      "%.2f" % ratio if ratio else "", verdict(ratio, ("", "<=", bound)) if bound and ratio else ""])
    if lines:
        print("\nFathom's transports apart, MPI on both ends; ratio: by libfabric's fi_pingpong over the same provider.\n")
        print_table(["transport", "figure", "unit", "Fathom", "fi_pingpong", "line, ns", "ratio", "goal"], lines)


class Panel:
    """One log-log diagram at a place of the page."""

    W, H = 330, 230

    def __init__(self, x, y, points):
        self.x, self.y = x + 60, y + 40
        xs = [p for p, _ in points]
        ys = [v for _, v in points]
        self.lo_x, self.hi_x = math.log2(min(xs)), math.log2(max(xs)) + 1e-9
        self.lo_y, self.hi_y = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)) + 1e-9)
        self.ticks = sorted(set(xs))

    def at(self, p, v):
        return (self.x + self.W * (math.log2(p) - self.lo_x) / (self.hi_x - self.lo_x),
                self.y + self.H - self.H * (math.log10(v) - self.lo_y) / (self.hi_y - self.lo_y))

    def frame(self, title):
        out = ['<text x="%d" y="%d" font-size="14">%s</text>' % (self.x, self.y - 14, title)]
        for d in range(self.lo_y, self.hi_y + 1):
            _, y = self.at(2 ** self.lo_x, 10 ** d)
            out.append('<line x1="%d" y1="%.0f" x2="%d" y2="%.0f" stroke="#ddd"/><text x="%d" y="%.0f" '
                       'text-anchor="end">%s</text>' % (self.x, y, self.x + self.W, y, self.x - 5, y + 4,
                                                        "%g" % 10 ** d))
        for p in self.ticks:
            text = "%dM" % (p >> 20) if p >= 1 << 20 else "%dK" % (p >> 10) if p >= 1024 else "%d" % p
            out.append('<text x="%.0f" y="%d" text-anchor="middle" font-size="9">%s</text>' % (
                self.at(p, 10 ** self.lo_y)[0], self.y + self.H + 14, text))
        return out

    def line(self, points, colour, dashes=""):
        xy = " ".join("%.1f,%.1f" % self.at(p, v) for p, v in sorted(points))
        out = ['<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>' % (
            xy, colour, dashes)]
        if not dashes:
            out += ['<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (self.at(p, v) + (colour,)) for p, v in points]
        return out


def points_of(results, figure, name):
    return [(p, row[name]) for (f, p), (row, _) in results.items()
            if f == figure and p > 0 and row.get(name) and row[name] > 0]


def svg(results, libraries, path):
    """Six diagrams by message size, depth or ranks; returns False when there is nothing to draw."""
    panels = [("latency", "latency, ns, by bytes", "cacheline"), ("bandwidth", "bandwidth, MB/s, by bytes", "memcpy"),
              ("bidirectional", "bandwidth both ways, MB/s, by bytes", None),
              ("depth_unexpected", "latency, ns, by unexpected messages before it", None),
              ("start", "start to end of hello, ms, by ranks", None),
              ("memory_per_rank", "memory of a rank, KiB, by ranks", None)]
    out, place = [], 0
    for figure, title, limit in panels:
        lines = [(lib, points_of(results, figure, lib.name)) for lib in libraries]
        every = [pt for _, points in lines for pt in points]
        floor = points_of(results, limit, "limit") if limit else []
        if len({p for p, _ in every}) < 2:
            continue
        if limit == "cacheline" and floor:
            floor = [(p, floor[0][1]) for p in (min(p for p, _ in every), max(p for p, _ in every))]
        panel = Panel(410 * (place % 3), 30 + 310 * (place // 3), every + floor)
        place += 1
        out += panel.frame(title)
        out += panel.line(floor, COLOURS["limit"], "4 3") if floor else []
        for lib, points in lines:
            out += panel.line(points, COLOURS[lib.name]) if points else []
    if not out:
        return False
    legend = "".join('<tspan fill="%s">%s   </tspan>' % (COLOURS[lib.name], lib.title) for lib in libraries)
    legend += '<tspan fill="%s">- - machine</tspan>' % COLOURS["limit"]
    height = 40 + 310 * ((place + 2) // 3)
    with open(path, "w") as f:
        f.write('<svg xmlns="http://www.w3.org/2000/svg" width="1240" height="%d" font-family="sans-serif" '
                'font-size="11"><rect width="1240" height="%d" fill="white"/>\n'
                '<text x="60" y="22" font-size="15" xml:space="preserve">%s</text>\n%s\n</svg>\n' % (
                    height, height, legend, "\n".join(out)))
    return True
