#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums up a meson testlog.json. Prints "PASSED FAILED SKIPPED" and a line for each failed test on stdout.
Prints the logs of failed tests and the reasons of skipped tests on stderr. Counts the cases in a test's
output; a test without cases counts as one."""
import collections
import json
import re
import sys

CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)\s*$", re.M)
CASE_SKIP = re.compile(r"^SKIP ([^:]+): (.*)$", re.M)
CASE_FAIL = re.compile(r"^(?:[^\n:]*:-?\d+:[EFS]:[^:\n]*:|FAIL )([^:\n]+)", re.M)
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
    """Returns the names of failed cases in parentheses, as far as the output has them."""
    names = sorted(set(CASE_FAIL.findall(test.get("stdout", ""))))
    return " (%s)" % ", ".join(names) if names else ""


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
    assert failed_cases({"stdout": out}) == " (b, c, is_so)"
    assert failed_cases({"stdout": "fine\n"}) == ""


def main(path):
    total, failed = [0, 0, 0], []
    try:
        with open(path, encoding="utf-8") as f:
            tests = [json.loads(line) for line in f]
    except FileNotFoundError:
        tests = []
    if not tests:
        print("-- no test was run", file=sys.stderr)
        total[1], failed = 1, ["no test was run"]
    for test in tests:
        counted = count(test)
        if counted[1]:
            show_failure(test)
            failed.append("%s: %s%s" % (test["name"], test["result"], failed_cases(test)))
        total = [a + b for a, b in zip(total, counted)]
    show_skipped(tests)
    print(*total)
    for line in failed:
        print(line)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        main(sys.argv[1])
