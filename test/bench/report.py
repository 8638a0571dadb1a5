# SPDX-License-Identifier: BSD-3-Clause
"""The results of bench.py as text, as a part of a document, and as a page with curves."""
import html
import math
import os
import sys
import time

COLOURS = ("#0b62a4", "#c0392b", "#27865a", "#8e44ad", "#b9770e", "#555")
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def text_of(value):
    if value is None:
        return "-"
    if value >= 1000:
        return "{:,.0f}".format(value)
    return "%.0f" % value if value >= 100 else "%.3g" % value


def verdict(r):
    words = [] if r["met"] is None else ["ok" if r["met"] else "NO"]
    return ", ".join(words + (["slower"] if r["slower"] else []))


def cells(r, names, base):
    """Returns the columns of a row; the first is its name."""
    first = r["libraries"][names[0]]
    found = ["%s %s" % (r["row"], r["unit"])]
    for name in names:
        one = r["libraries"][name]
        found.append(text_of(one["value"]) if not one["failed"] else "fails")
    found += ["%.0f" % (100 * first["spread"]), text_of(first["p99"] or None)]
    for name in names:
        if name != base:
            ratio = r["libraries"][name]["ratio"]
            found.append("-" if ratio is None else "%.3g" % ratio)
    found += [text_of(r["floor"]), text_of(first["value"] / r["floor"] if r["floor"] and first["value"] else None)]
    calls = [r["libraries"][name].get("calls") for name in (names[0], base)]
    found.append("%.0f, %.0f" % tuple(calls) if None not in calls else "-")
    found += [text_of(r["target"]), verdict(r)]
    return found


def heads(names, base):
    ratios = ["%s/%s" % (name, base) for name in names if name != base]
    return ["row", *names, "+-%", "p99", *ratios, "floor", "x floor", "calls", "target", ""]


def print_table(results, names, base, verbose):
    table = [heads(names, base)] + [cells(r, names, base) for r in results]
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    for i, line in enumerate(table):
        print("  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(line, widths))).rstrip())
        for name in names if verbose and i else []:
            one = results[i - 1]["libraries"][name]
            if one["cpu"]:
                print("    %-12s p99 %s us, per call %.2f switches of context and %s us of processor time" % (
                    name, text_of(one["p99"] or None), one["switches"], text_of(one["cpu"])))
    for r in results:
        for name in names:
            if r["libraries"][name]["failed"]:
                print("%s fails with %s: %s" % (r["row"], name, r["libraries"][name]["failed"]))
    print(summary(results, base))


def summary(results, base):
    met = [r["met"] for r in results if r["met"] is not None]
    return "%d of %d targets are met; slower than %s: %d of %d rows" % (
        sum(met), len(met), base, sum(r["slower"] for r in results), len(results))


def markdown(results, names, base):
    head = heads(names, base)
    lines = ["| %s |" % " | ".join(head), "|%s" % ("---|" * len(head))]
    lines += ["| %s |" % " | ".join(cells(r, names, base)) for r in results]
    return "\n".join(lines)


def write_document(path, results, names, base):
    with open(path) as f:
        text = f.read()
    before, found, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    if not found or not after:
        sys.exit("bench: %s has no lines %s and %s" % (path, BEGIN, END))
    rounds = [r["libraries"][names[0]]["rounds"] for r in results]
    about = "%s, %d processors, Linux %s; %d to %d rounds. %s." % (
        time.strftime("%Y-%m-%d"), os.cpu_count(), os.uname().release.partition("-")[0], min(rounds), max(rounds),
        summary(results, base))
    with open(path, "w") as f:
        f.write("%s%s\n%s\n\n%s\n%s%s" % (before, BEGIN, about, markdown(results, names, base), END, after))


# ---- the page -------------------------------------------------------------------------------------------

WIDTH, HEIGHT, MARGIN = 430, 260, 48


def scale(values, length):
    """Returns a logarithmic function from values to 0..length, and the values with labels."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    return (lambda v: (math.log10(v) - low) / (high - low) * length), [10.0 ** k for k in range(low, high + 1)]


def chart(name, results, names):
    """Returns a chart: X across, time per process up, a line for each library and for the floor."""
    lines = {}
    for r in results:
        share = 1 if r["each"] or r["unit"] != "us" or not is_collective(name) else r["x"]
        for library in names:
            value = r["libraries"][library]["value"]
            if value and not r["libraries"][library]["failed"]:
                lines.setdefault(library, []).append((r["x"], value / share))
        if r["floor"]:
            lines.setdefault("floor", []).append((r["x"], r["floor"] / share))
    points = [p for line in lines.values() for p in line]
    if len({x for x, _ in points}) < 2:
        return ""
    xs = sorted({x for x, _ in points})
    across = lambda x: MARGIN + math.log(x / xs[0]) / math.log(xs[-1] / xs[0]) * (WIDTH - MARGIN - 12)
    up, ticks = scale([y for _, y in points], HEIGHT - 2 * MARGIN)
    height = lambda y: HEIGHT - MARGIN - up(y)
    svg = ['<svg width="%d" height="%d" role="img"><title>%s</title>' % (WIDTH, HEIGHT, html.escape(name))]
    for y in ticks:
        svg.append('<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>' % (
            MARGIN, height(y), WIDTH - 12, MARGIN - 4, height(y) + 4, y))
    for x in xs:
        svg.append('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (across(x), HEIGHT - MARGIN + 16, x))
    for i, library in enumerate([*names, "floor"]):
        line = lines.get(library, [])
        colour = "#999" if library == "floor" else COLOURS[i % len(COLOURS)]
        svg.append('<polyline fill="none" stroke-width="2" stroke="%s"%s points="%s"/>' % (
            colour, ' stroke-dasharray="4 3"' if library == "floor" else "",
            " ".join("%.1f,%.1f" % (across(x), height(y)) for x, y in line)))
        svg += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%s, %d: %s</title></circle>' % (
            across(x), height(y), colour, html.escape(library), x, text_of(y)) for x, y in line]
        if line:
            svg.append('<text x="%d" y="16" fill="%s">%s</text>' % (MARGIN + 85 * i, colour, html.escape(library)))
    return "".join(svg) + "</svg>"


def is_collective(name):
    return name.split(".")[0] in ("fence", "modex", "finalize", "register", "server")


def write_html(path, results, names, base):
    charts = []
    for name in dict.fromkeys(r["name"] for r in results):
        rows = [r for r in results if r["name"] == name]
        picture = chart(name, rows, names)
        if picture:
            unit = rows[0]["unit"] + (" per process" if is_collective(name) else "")
            charts.append("<figure><figcaption><b>%s</b>: %s; %s</figcaption>%s</figure>" % (
                html.escape(name), html.escape(rows[0]["what"]), unit, picture))
    head = "".join("<th>%s" % html.escape(c) for c in heads(names, base))
    body = "".join("<tr%s>%s" % (' class="no"' if "NO" in verdict(r) or r["slower"] else "", "".join(
        "<td>%s" % html.escape(c) for c in cells(r, names, base))) for r in results)
    with open(path, "w") as f:
        f.write("""<!doctype html><meta charset="utf-8"><title>Speed and scale</title>
<style>body{font:14px sans-serif;margin:2em}td,th{padding:2px 8px;text-align:right}td:first-child{text-align:left}
.no td:last-child{color:#c0392b}figure{display:inline-block;margin:8px;vertical-align:top;width:%dpx}text{font-size:11px}
</style><h1>Speed and scale</h1><p>Medians; both axes of the curves are logarithmic. The dashed line is the floor.</p>
%s<table><tr>%s%s</table>
""" % (WIDTH, "".join(charts), head, body))
