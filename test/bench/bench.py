#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""See HELP, or contrib/bench.sh --help."""
import argparse
import collections
import copy
import glob
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import report
import rows

HELP = """\
Measures what calls take with several libraries named libpmix.so.2, in turns, beside what the kernel needs for the
least that must be done (the floor), and prints a table with ratios. An argument NAME=FOLDER is a library; with
NAME=FOLDER:CLIENTS the server uses that of the first folder and its clients that of the second. Ratios are to the
second library (--base names another). A single one is compared with the system's; without any there are "ours", of a
release build that is made in build/bench/release, the system's, and "mixed", which is our server with its clients.

  contrib/bench.sh                                    the whole table
  contrib/bench.sh --list                             its rows, and what they measure
  contrib/bench.sh --rows 'get.*' --quick ours=build-rel/core                some rows of a build, in a few seconds
  contrib/bench.sh --rows 'fence.*/16' new=build-rel/core old=../old/build-rel/core
  contrib/bench.sh --rows 'modex.*' both=build-rel/core mixed=build-rel/core:/usr/lib/x86_64-linux-gnu

A row is named NAME/X, where X is the number of clients or another size; --rows takes a regular expression
that its beginning must match. A figure is the median of several runs; half of the runs stay within "+-" of the
median. A ratio is the median of those of single rounds, in which the libraries took turns. A row that seems slower
than the second library is measured again, in twice as many rounds, each with new copies of both files. "slower"
means by more than 3 % in both measurements. "calls" are the system calls of one such call, of the server, too, with
the first library and with that of the ratios (--counts). The table, build/bench/report.html and
build/bench/result.json have the same figures."""

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SOURCES = ("datapath.c", "scenes.c", "sample.c", "codec.c", "floor.c")
DEADLINE_S, LONG_S = 60, 300  # of one run; the other of jobs of many ranks
QUICK, FEWEST, MOST = 3, 5, 15  # rounds
UNIT_S = 60   # of one scene at one size, over all rounds
SPREAD = .03  # of the median of ratios: it is known well enough
SLOWER = .03  # a row that is slower by less is not called slower
MIXED = {"start", "get", "first", "modex", "fence"}  # the scenes in which two libraries are a third pair by default
FLOOR = "floor"


class Library:
    def __init__(self, text):
        self.name, _, folders = text.partition("=")
        server, _, client = folders.partition(":")
        self.server, self.client = os.path.realpath(server), os.path.realpath(client or server)
        if not folders:
            sys.exit("bench: %s: expected NAME=FOLDER" % text)
        for folder in (self.server, self.client):
            if not os.path.exists(os.path.join(folder, "libpmix.so.2")):
                sys.exit("bench: no libpmix.so.2 in %s" % folder)


# ---- running --------------------------------------------------------------------------------------------


def end(job):
    try:
        os.killpg(job.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    job.communicate()


def run(command, deadline, env):
    """Returns ({row: [value, p99, switches, cpu]}, {row: error}, error of the run), and leaves no files."""
    place = tempfile.mkdtemp(prefix="tb.")
    clean = {k: v for k, v in os.environ.items() if not re.match("PMIX_|OMPI_|TENON_|LD_|BENCH_", k)}
    env = dict(clean, TMPDIR=place, BENCH_DEADLINE_S=str(deadline), **env)
    job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, start_new_session=True, env=env)
    try:
        out, errors = job.communicate(timeout=deadline + 10)
    except subprocess.TimeoutExpired:
        out, errors = "", "past the deadline"
    finally:
        end(job)
        shutil.rmtree(place, ignore_errors=True)
    found, failed = {}, {}
    for name, value, *more in (line.split() for line in out.splitlines()):
        if value == "-":
            failed[name] = more[0]
        else:
            found[name] = [float(word) for word in (value, *more)]
    if job.returncode == 0:
        return found, failed, ""
    return found, failed, (errors.strip().splitlines() or ["status %d" % job.returncode])[-1]


class Unit:
    """A scene at one size: what one run measures."""

    def __init__(self, scene, x, rows_):
        self.scene, self.x, self.rows = scene, x, rows_
        self.samples = {}  # (library or FLOOR, row): [[value, p99, switches, cpu] or None, ...], one for each round
        self.failed = {}   # (library, row): why
        self.calls = {}    # library: {row: system calls}
        self.rounds = self.spent_s = 0

    def wants(self, library):
        gave_up = self.rounds > 1 and all((library.name, row.name) in self.failed for row in self.rows)
        return not gave_up and (library.everywhere or self.scene in MIXED)

    def measure(self, library, program):
        deadline = LONG_S if self.x > 50000 else DEADLINE_S
        found, failed, errors = run([program, self.scene, str(self.x)], deadline, {
            "LD_LIBRARY_PATH": library.server, "BENCH_CLIENT_LIBRARY": library.client})
        for row in self.rows:
            if row.name not in found:
                self.failed[library.name, row.name] = failed.get(row.name) or errors or "no figure"
        return found

    def round(self, libraries, program):
        begin = time.monotonic()
        turn = self.rounds % len(libraries)
        for library in libraries[turn:] + libraries[:turn]:
            found = self.measure(library, program) if self.wants(library) else {}
            for row in self.rows:
                self.samples.setdefault((library.name, row.name), []).append(found.get(row.name))
        found = {}
        for scene, _, each in {row.floor for row in self.rows if row.floor}:
            found.update(run([program, "floor." + scene, str(self.x if each else 1)], DEADLINE_S, {
                "LD_LIBRARY_PATH": libraries[0].server})[0])
        for row in self.rows:
            value = found.get(row.floor[1]) if row.floor else None
            self.samples.setdefault((FLOOR, row.name), []).append(value)
        self.rounds += 1
        self.spent_s += time.monotonic() - begin

    def ratios(self, row, name, base):
        pairs = zip(self.samples.get((name, row.name), []), self.samples.get((base, row.name), []))
        return [a[0] / b[0] for a, b in pairs if a and b and b[0]]

    def is_known(self, names):
        if self.rounds < FEWEST:
            return False
        return all(spread(self.ratios(row, names[0], names[-1])) < SPREAD * self.rounds ** .5 for row in self.rows)


def count_calls(unit, library, program):
    """{row: system calls of the server and all clients, per call of one client}, as strace shows them."""
    with tempfile.NamedTemporaryFile(prefix="tb.", mode="r") as trace:
        run(["strace", "-f", "-o", trace.name, program, unit.scene, str(unit.x)], DEADLINE_S, {
            "LD_LIBRARY_PATH": library.server, "BENCH_CLIENT_LIBRARY": library.client, "BENCH_COUNTS": "1"})
        total, calls, row = collections.Counter(), collections.Counter(), None
        for line in trace:
            marker = re.search(r'write\(-1, "bench (\S+) (\d+)"', line)
            if marker:
                row = marker.group(1) if marker.group(2) == "0" else None
                calls[marker.group(1)] += int(marker.group(2))
            elif row and re.match(r"\d+ +\w+\(", line):
                total[row] += 1
    return {row: total[row] / n / (1 if unit.scene in rows.ALONE else unit.x) for row, n in calls.items() if n}


def spread(values):
    """Returns the median distance of the values from their median, relative to that median."""
    if not values:
        return 0
    middle = statistics.median(values)
    return statistics.median(abs(v - middle) for v in values) / middle if middle else 0


def lower_quarter(values):
    """Returns the first quartile."""
    return sorted(values)[(len(values) - 1) // 4] if values else None


def measure_all(units, libraries, program, options):
    """Runs round by round, so that other load hits all libraries. Units with a known result drop out."""
    names = [library.name for library in libraries[:2]]
    stop = time.monotonic() + options.seconds
    left, done = list(units), 0
    for unit in units if options.counts else []:
        for library in libraries if unit.x <= 2 else []:
            progress("counting: %s" % unit.scene)
            unit.calls[library.name] = count_calls(unit, library, program)
    while left:
        for unit in list(left):
            if time.monotonic() > stop and unit.rounds:
                left.remove(unit)
                continue
            progress("round %d: %s of %d   " % (done + 1, "%s/%d" % (unit.scene, unit.x), len(left)))
            unit.round(libraries, program)
            most = QUICK if options.quick else MOST
            if unit.rounds >= most or unit.spent_s > UNIT_S or unit.is_known(names):
                left.remove(unit)
        done += 1
    progress("")


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()


# ---- what was found -------------------------------------------------------------------------------------


def middle(samples, i=0):
    values = [s[i] for s in samples or [] if s]
    return statistics.median(values) if values else None


def target_of(row, x, values):
    """Returns the limit of the row, or None."""
    most = row.target.get(x, row.target.get(rows.ALL))
    if isinstance(most, str):
        factor, of = most.split()
        return values.get(of) and float(factor) * values[of]
    if isinstance(most, tuple):
        return max(most[0], most[0] / most[1] * (values[most[2] if most[2:] else "base"] or 0))
    return most


def result_of(unit, row, libraries, base):
    result = {"row": "%s/%d" % (row.name, unit.x), "name": row.name, "x": unit.x, "unit": row.unit, "what": row.what,
              "each": row.each, "floor": middle(unit.samples[FLOOR, row.name]), "libraries": {}}
    for library in libraries:
        samples = unit.samples[library.name, row.name]
        ratios = unit.ratios(row, library.name, base)
        result["libraries"][library.name] = {
            "calls": unit.calls.get(library.name, {}).get(row.name), "value": middle(samples), "p99": middle(samples, 1), "switches": middle(samples, 2),
            "cpu": middle(samples, 3), "spread": spread([s[0] for s in samples if s]),
            "ratio": statistics.median(ratios) if ratios else None, "best": lower_quarter(ratios), "rounds": len([s for s in samples if s]),
            "failed": unit.failed.get((library.name, row.name))}
    return result


def judge(results, first, base):
    """Adds the verdict on the first library to each result."""
    values = {r["row"]: r["libraries"][first]["value"] for r in results}
    targets = {row.name: row for row in rows.ROWS}
    for r in results:
        own = r["libraries"][first]
        values.update(floor=r["floor"], base=r["libraries"][base]["value"])
        row = targets[r["name"]]
        r["target"] = target_of(row, r["x"], values)
        worst = own["p99"] or 0 if row.p99 and r["target"] else 0
        r["met"] = None if r["target"] is None else (
            not own["failed"] and own["value"] <= r["target"] * 1.0001 and worst <= (row.p99 or 0))
        r["slower"] = first != base and is_slower(own)


def is_slower(own):
    """True if the library is slower by more than 3 % and by more than half of the runs differ, and in three rounds of
    four. The same instructions at other addresses may take 3 % longer."""
    return bool(own["ratio"] and own["ratio"] > 1 + max(SLOWER, own["spread"]) and own["best"] > 1)


def new_copy(library, place):
    """Returns the library in new files. Two copies of one file differ by up to 6 %, by the places of
    their pages in memory."""
    def copied(folder):
        new = tempfile.mkdtemp(dir=place)
        shutil.copyfile(os.path.join(folder, "libpmix.so.2"), os.path.join(new, "libpmix.so.2"))
        os.symlink(os.path.join(folder, "pmix"), os.path.join(new, "pmix"))  # the components, if there are any
        return new + ":" + folder  # other libraries of the folder

    made = copy.copy(library)
    made.server, made.client = copied(library.server), copied(library.client)
    return made


def confirm(units, results, libraries, program, base):
    """Measures scenes with slower rows again. A row that is not slower again loses this verdict: of two copies of
    one library, one row in twenty seems slower."""
    slow = {r["row"]: r for r in results if r["slower"]}
    for unit in units:
        again = Unit(unit.scene, unit.x, [row for row in unit.rows if "%s/%d" % (row.name, unit.x) in slow])
        for i in range(2 * unit.rounds if again.rows else 0):
            progress("round %d of %d again: %s/%d" % (i + 1, 2 * unit.rounds, unit.scene, unit.x))
            with tempfile.TemporaryDirectory(prefix="tb.") as place:
                again.round([new_copy(library, place) for library in libraries], program)
        for row in again.rows:
            second = result_of(again, row, libraries, base)
            own = second["libraries"][libraries[0].name]
            slow[second["row"]].update(slower=is_slower(own), ratio_again=own["ratio"])
    progress("")


# ---- programs and libraries -----------------------------------------------------------------------------


def make_release(folder):
    """The library of this tree, in a build of its own."""
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["meson", "setup", folder, TOP, "--buildtype=release", "-Dtests=disabled", "-Ddocs=false",
                        "-Dbuiltin=all", "-Dcomponents="], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["nice", "ninja", "-C", folder, "core/libpmix.so.2.0.0"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, "core")


def make_program(path, library):
    """Builds the program with the system's headers, or else with this tree's headers."""
    headers = glob.glob("/usr/lib/*/pmix2/include") or [os.path.join(TOP, "include"), os.path.join(
        os.path.dirname(library.server), "include")]
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-pthread", *("-I" + h for h in headers), "-o", path,
                    *(os.path.join(HERE, source) for source in SOURCES), os.path.join(library.server, "libpmix.so.2")],
                   check=True)
    return path


def system_library():
    return ["debian=" + os.path.dirname(p) for p in glob.glob("/usr/lib/*/libpmix.so.2")][:1]


def default_libraries(out):
    ours = make_release(os.path.join(out, "release"))
    return ["ours=" + ours] + [text for system in system_library()
                               for text in (system, "mixed=%s:%s" % (ours, system.partition("=")[2]))]


def units_of(options):
    found = {}
    for row in rows.ROWS:
        for x in row.xs:
            if not any(re.match(p, "%s/%d" % (row.name, x)) for p in options.rows or [""]):
                continue
            if options.quick and x > (100000 if row.name.split(".")[0] in ("big", "maps", "flood") else 16):
                continue
            found.setdefault((row.scene, x), []).append(row)
    return [Unit(scene, x, list_) for (scene, x), list_ in found.items()]


def kept(options, names):
    """Returns the results of earlier runs of the same libraries, with --keep."""
    path = os.path.join(options.out, "result.json")
    if not options.keep or not os.path.exists(path):
        return []
    with open(path) as f:
        known = {row.name for row in rows.ROWS}
        return [r for r in json.load(f) if r["name"] in known and set(names) <= set(r["libraries"])]


def parse():
    parser = argparse.ArgumentParser(prog="contrib/bench.sh", description=HELP,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", metavar="NAME=FOLDER[:CLIENTS]")
    parser.add_argument("--rows", action="append", metavar="PATTERN", help="only rows like this; may be given often")
    parser.add_argument("--quick", action="store_true", help="three rounds, and no more than 16 clients")
    parser.add_argument("--seconds", type=int, default=1800, help="begin no further round after that (default: 1800)")
    parser.add_argument("--counts", action="store_true",
                        help="count system calls of one and two clients with their server, too, by strace")
    parser.add_argument("--verbose", action="store_true", help="99th percentiles, switches of context, processor time")
    parser.add_argument("--keep", action="store_true", help="results of earlier runs stay, for rows not measured now")
    parser.add_argument("--list", action="store_true", help="name the rows, and end")
    parser.add_argument("--out", metavar="FOLDER", default=os.path.join(TOP, "build", "bench"),
                        help="for the report, and what is built (default: build/bench)")
    parser.add_argument("--program", metavar="FILE", help="datapath (default: is made)")
    parser.add_argument("--document", metavar="FILE", help="write the table into this document, too")
    parser.add_argument("--base", metavar="NAME", help="the library that ratios refer to (default: the second)")
    return parser.parse_args()


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    options = parse()
    if options.list:
        for row in rows.ROWS:
            print("%-24s %-42s %s" % (row.name, "/" + " /".join(map(str, row.xs)), row.what))
        return 0
    units = units_of(options)
    if not units:
        sys.exit("bench: no row is like that; --list names them")
    os.makedirs(options.out, exist_ok=True)
    given = options.libraries or default_libraries(options.out)
    if len(given) == 1:
        given += system_library()
    libraries = [Library(text) for text in given]
    for library in libraries:
        library.everywhere = bool(options.libraries) or library.client == library.server
    names = [library.name for library in libraries]
    base = options.base or names[min(1, len(names) - 1)]
    if base not in names:
        sys.exit("bench: no library is named %s" % base)
    begin = time.monotonic()
    program = options.program or make_program(os.path.join(options.out, "datapath"), libraries[0])
    measure_all(units, libraries, program, options)
    order = [row.name for row in rows.ROWS]
    results = {r["row"]: r for r in kept(options, names)}
    results.update((r["row"], r) for r in (result_of(unit, row, libraries, base) for unit in units for row in unit.rows))
    results = sorted(results.values(), key=lambda r: (order.index(r["name"]), r["x"]))
    judge(results, libraries[0].name, base)
    confirm(units, results, libraries, program, base)
    with open(os.path.join(options.out, "result.json"), "w") as f:
        json.dump(results, f, indent=1)
    report.write_html(os.path.join(options.out, "report.html"), results, names, base)
    if options.document:
        report.write_document(options.document, results, names, base)
    report.print_table(results, names, base, options.verbose)
    print("%d s; %s" % (time.monotonic() - begin, os.path.join(options.out, "report.html")))
    return any(r["slower"] or r["libraries"][names[0]]["failed"] for r in results)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("bench: ended early")
    except subprocess.CalledProcessError as error:
        sys.exit("bench: cannot build: %s" % error)
