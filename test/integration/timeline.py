# SPDX-License-Identifier: BSD-3-Clause
"""Checks files of pmixrun --timeline. trace FILE RANKS ARGUMENT...: "own": ranks have times of their own; "fences=N":
each rank has left N fences; "last=R": rank R was the last to enter the first fence; "foreign": no own times; "jobs=N".
page FILE RANKS: the slowest rank, and a bar for each rank; prints the names."""
import collections
import html.parser
import json
import re
import sys

SERVER = ["fork", "exec", "connect", "job info", "commit", "finalize", "exit"]
ALL = ["fork", "exec", "init", "connect", "job info", "ready", "put", "commit", "finalize", "exit"]


def check_event(e):
    """Checks the members that a viewer needs."""
    assert e["ph"] in "MXi" and isinstance(e["pid"], int) and isinstance(e["tid"], int) and e["name"], e
    if e["ph"] != "M":
        assert e["ts"] >= 0 and e["cat"], e
    if e["ph"] == "X":
        assert e["dur"] >= 0, e
    if e["ph"] == "i":
        assert e["s"] == "t", e


def trace(path, ranks, *wanted):
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    wanted = dict((w.split("=") + [""])[:2] for w in wanted)
    assert found["displayTimeUnit"] == "ms", found.keys()
    threads = collections.defaultdict(list)
    for e in found["traceEvents"]:
        check_event(e)
        threads[e["pid"], e["tid"]].append(e)
    jobs = {pid for pid, _ in threads}
    assert len(jobs) == int(wanted.get("jobs", 1)), jobs
    assert len(threads) == ranks, threads.keys()
    for (_, rank), events in threads.items():
        names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
        assert names == {"rank %d" % rank}, names
        about = [e["args"] for e in events if e["name"] == "rank"]
        assert len(about) == 1 and about[0]["pid"] > 0 and about[0]["host"], about
        assert about[0]["dropped"] == int(wanted.get("dropped", 0)), about
        steps = {e["name"]: e["ts"] for e in events if e["ph"] == "i"}
        if "own" in wanted or "foreign" in wanted:
            expected = ALL if "own" in wanted else SERVER
            assert list(steps) == expected, steps
            assert list(steps.values()) == sorted(steps.values()), steps
        fences = [e for e in events if e["ph"] == "X" and e["name"] == "fence"]
        if "fences" in wanted:
            assert len(fences) == int(wanted["fences"]), fences
            assert all(e["args"]["left"] for e in fences), fences
        if "last" in wanted:
            assert fences[0]["args"]["last"] == int(wanted["last"]), fences[0]
            others = [e["dur"] for (_, r), es in threads.items() for e in es
                      if e["name"] == "fence" and r != int(wanted["last"])][0]
            assert fences[0]["dur"] <= others or rank != int(wanted["last"]), (fences[0], others)
    return threads


class Page(html.parser.HTMLParser):
    """Collects the elements of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.open = collections.Counter(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        assert not any(name in ("src", "href") for name, _ in attrs), (tag, attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1

    def handle_endtag(self, tag):
        while self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))


def page(path, ranks, slowest):
    parser = Page()
    with open(path, encoding="utf-8") as f:
        parser.feed(f.read())
    parser.close()
    texts = collections.defaultdict(list)
    for tag, text in parser.texts:
        texts[tag].append(text)
    assert "script" not in parser.tags and parser.tags["svg"] == 2, parser.tags
    assert parser.tags["rect"] >= 2 * ranks, parser.tags
    for r in range(ranks):
        assert texts["text"].count("rank %d" % r) == 2, texts["text"]
        assert any(t.startswith("rank %d: fence" % r) for t in texts["title"]), texts["title"][:9]
    assert len(texts["li"]) == min(ranks, 3), texts["li"]
    assert re.match(r"rank %s \(.+, pid \d+\): [\d.]+ ms to its first collective; longest: program" % slowest,
                    texts["li"][0]), texts["li"]


if __name__ == "__main__":
    if sys.argv[1] == "trace":
        trace(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
    else:
        page(sys.argv[2], int(sys.argv[3]), sys.argv[4])
