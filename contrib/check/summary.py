#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums up a meson testlog.json, and one of second tries, whose results count. Prints "PASSED FAILED SKIPPED", a line for
each failed test, and a line for each test that passed at its second try alone, on stdout. With --failed: prints the
names of failed tests, unless there are more than three. With --table: prints a table of the cases whose names are
CASE/SERVER/RANKS, two libraries.
Prints the logs of failed tests and the reasons of skipped tests on stderr. Counts the cases in a test's
output; a test without cases counts as one."""
import collections
import json
import re
import sys

CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)\s*$", re.M)
CASE_SKIP = re.compile(r"^SKIP ([^:]+): (.*)$", re.M)
CASE_FAIL = re.compile(r"^(?:[^\n:]*:-?\d+:[EFS]:[^:\n]*:|FAIL )([^:\n]+)(?::-?\d+)?(?:: ([^\n]*))?", re.M)
PAIR = re.compile(r"^(PASS|FAIL|SKIP) (\w+)/(\w+)/(\w+)(.*)$", re.M)
PAIRS = (("ours", "ours"), ("ours", "debian"), ("debian", "ours"), ("debian", "debian"))  # server, processes
MOST_AGAIN = 3  # failed tests that are tried again
SHELL = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*$", re.M)


def count(test):
    """Returns the numbers of (passed, failed, skipped) cases of one test."""
    out, result = test.get("stdout", ""), test["result"]
    passed = failed = skipped = 0
    for checks, failures, errors in CHECK.findall(out):
        passed += int(checks) - int(failures) - int(errors)
        failed += int(failures) + int(errors)
    if passed:  # a Check test that skips itself has passed
        not_run = len(CASE_SKIP.findall(out))
        passed, skipped = passed - not_run, not_run
    for good, bad, not_run in SHELL.findall(out):
        passed, failed, skipped = passed + int(good), failed + int(bad), skipped + int(not_run)
    if result == "SKIP":
        return passed, failed, max(skipped, 1)
    if result not in ("OK", "EXPECTEDFAIL"):
        return passed, max(failed, 1), skipped
    return (passed, failed, skipped) if passed + failed + skipped else (1, 0, 0)


def reasons(test):
    """Returns {reason: number of skipped cases} of one test."""
    lines = (test.get("stdout", "") + test.get("stderr", "")).splitlines()
    found = collections.Counter(m.group(2) for m in map(CASE_SKIP.match, lines) if m)
    if not found and count(test)[2]:
        found[lines[-1] if lines else "no reason given"] = count(test)[2]
    return found


def failed_cases(test):
    """Returns the names of failed cases and the reasons, in parentheses, as far as the output has them."""
    cases = sorted(set(CASE_FAIL.findall(test.get("stdout", ""))))
    return " (%s)" % "; ".join(name + (": " + why[:160] if why else "") for name, why in cases) if cases else ""


def show_failure(test):
    log = test.get("stdout", "") + test.get("stderr", "")
    print("-- %s: %s" % (test["name"], test["result"]), file=sys.stderr)
    for line in log.splitlines()[-200:]:
        print("   | " + line, file=sys.stderr)


def show_skipped(tests):
    by_reason = collections.defaultdict(collections.Counter)
    for test in tests:
        for reason, n in reasons(test).items():
            by_reason[reason][test["name"].split(" / ")[-1]] += n
    for reason, names in sorted(by_reason.items()):
        print("-- skipped, %s: %s" % (reason, ", ".join(
            name if n == 1 else "%s (%d)" % (name, n) for name, n in names.items())), file=sys.stderr)


def self_test():
    def case(result, out=""):
        return count({"name": "x", "result": result, "stdout": out})

    assert case("OK") == (1, 0, 0)
    assert case("FAIL") == case("TIMEOUT") == case("ERROR") == (0, 1, 0)
    assert case("SKIP") == (0, 0, 1)
    assert case("OK", "100%: Checks: 7, Failures: 0, Errors: 0\n" * 2) == (14, 0, 0)
    assert case("FAIL", "71%: Checks: 7, Failures: 1, Errors: 1\n") == (5, 2, 0)
    assert case("FAIL", "100%: Checks: 7, Failures: 0, Errors: 0\n") == (7, 1, 0)
    assert case("OK", "SKIP a: needs b\nSKIP c: d\n100%: Checks: 7, Failures: 0, Errors: 0\n") == (5, 0, 2)
    assert case("OK", "SKIP a: needs b\n3 passed, 0 failed, 1 skipped\n") == (3, 0, 1)
    assert case("OK", "x\n3 passed, 0 failed, 2 skipped\n") == (3, 0, 2)
    why = {"name": "x", "result": "OK", "stdout": "SKIP a: needs b\nSKIP c: needs b\nSKIP d: no e\n"
           "100%: Checks: 7, Failures: 0, Errors: 0\n"}
    assert reasons(why) == {"needs b": 2, "no e": 1}
    assert reasons({"name": "x", "result": "SKIP", "stdout": "no f\n"}) == {"no f": 1}
    assert reasons({"name": "x", "result": "OK", "stdout": "fine\n"}) == {}
    assert case("OK", "0 passed, 1 failed, 0 skipped\n") == (0, 1, 0)
    out = "a.c:7:F:core:is_so:0: no\n(null):-1:S:b:b:0: (after this point) Early exit\nFAIL c: no\n"
    assert failed_cases({"stdout": out}) == " (b: (after this point) Early exit; c: no; is_so: no)"
    assert failed_cases({"stdout": "fine\n"}) == ""
    bad, good = {"name": "x", "result": "FAIL", "stdout": "FAIL c: no\n"}, {"name": "x", "result": "OK"}
    for again, left, lines in ([good], good, ["unsteady: x (c: no)"]), ([bad], bad, []), ([], bad, []):
        tests = [bad]
        assert take_second_tries(tests, again) == lines and tests == [left]


    tests = [{"stdout": "PASS a_b/ours/ours (1 s)\nSKIP a_b/debian/debian: fails without our library: x\nPASS c (1 s)\n"
              "FAIL a_b/ours/debian: no\nPASS m/ours/pmi (0 s)\n"}]
    assert [line.split() for line in table(tests)[2:]] == [["a", "b", "pass", "FAIL", "fails"], ["m", "pass", "pass"]]
    assert table([{"stdout": "PASS c (1 s)\n"}]) == []


def read_log(path):
    try:
        with open(path, encoding="utf-8") as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def print_failed(path):
    """Prints the names of failed tests, unless there are too many for an accident."""
    names = [test["name"].split(" / ", 1)[-1] for test in read_log(path) if count(test)[1]]
    if len(names) <= MOST_AGAIN:
        print(*names)


def table(tests):
    """Returns the lines of a table: a row for each case, a column for each pair of libraries. Programs of PMI have no
    library of PMIx, and stand in the columns of their server."""
    rows = {}
    for test in tests:
        for result, case, server, ranks, rest in PAIR.findall(test.get("stdout", "")):
            word = {"PASS": "pass", "FAIL": "FAIL", "SKIP": "fails" if "fails without our" in rest else "-"}[result]
            for pair in PAIRS:
                if pair == (server, ranks) or (ranks == "pmi" and pair[0] == server):
                    rows.setdefault(case, {})[pair] = word
    if not rows:
        return []
    width = max(map(len, rows)) + 1
    line = "%-{}s %-8s %-8s %-8s %-8s".format(width).__mod__
    heads = [("server",) + tuple(server for server, _ in PAIRS), ("processes",) + tuple(ranks for _, ranks in PAIRS)]
    return [line(cells).rstrip() for cells in heads + [
        (case.replace("_", " "),) + tuple(row.get(pair, "") for pair in PAIRS) for case, row in rows.items()]]


def take_second_tries(tests, again):
    """Replaces failed tests by their second tries. Returns a line for each test that passed then."""
    second, unsteady = {test["name"]: test for test in again}, []
    for i, test in enumerate(tests):
        if test["name"] in second and count(test)[1]:
            show_failure(test)
            tests[i] = second[test["name"]]
            if not count(tests[i])[1]:
                unsteady.append("unsteady: %s%s" % (test["name"], failed_cases(test)))
    return unsteady


def main(path, again):
    total, failed, tests = [0, 0, 0], [], read_log(path)
    unsteady = take_second_tries(tests, read_log(again))
    if not tests:
        print("-- no test was run", file=sys.stderr)
        total[1], failed = 1, ["failed: no test was run"]
    for test in tests:
        counted = count(test)
        if counted[1]:
            show_failure(test)
            failed.append("failed: %s: %s%s" % (test["name"], test["result"], failed_cases(test)))
        total = [a + b for a, b in zip(total, counted)]
    show_skipped(tests)
    print(*total)
    for line in failed + unsteady:
        print(line)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif sys.argv[1:2] == ["--failed"]:
        print_failed(sys.argv[2])
    elif sys.argv[1:2] == ["--table"]:
        logs = read_log(sys.argv[2])
        take_second_tries(logs, read_log(sys.argv[3]))
        print(*table(logs), sep="\n")
    else:
        main(*sys.argv[1:])
