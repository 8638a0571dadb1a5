#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sum up a meson testlog.json: "PASSED FAILED SKIPPED" on stdout and a line for each test that
failed, and on stderr the logs of these and the reasons of skipped ones. Where a test's output counts its own cases, those
are counted; any other test counts as one."""
import json
import re
import sys

CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)\s*$", re.M)
CHECK_SKIP = re.compile(r"^SKIP (\S+): (.*)$", re.M)
SHELL = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*$", re.M)


def count(test):
    """(passed, failed, skipped) cases of one test."""
    out, result = test.get("stdout", ""), test["result"]
    passed = failed = skipped = 0
    for checks, failures, errors in CHECK.findall(out):
        passed += int(checks) - int(failures) - int(errors)
        failed += int(failures) + int(errors)
    if passed:  # a Check test that skips itself has passed
        not_run = len(CHECK_SKIP.findall(out))
        passed, skipped = passed - not_run, not_run
    for good, bad, not_run in SHELL.findall(out):
        passed, failed, skipped = passed + int(good), failed + int(bad), skipped + int(not_run)
    if result == "SKIP":
        return passed, failed, max(skipped, 1)
    if result not in ("OK", "EXPECTEDFAIL"):
        return passed, max(failed, 1), skipped
    return (passed, failed, skipped) if passed + failed + skipped else (1, 0, 0)


def tell(test, counted):
    if counted[1]:
        log = test.get("stdout", "") + test.get("stderr", "")
        print("-- %s: %s" % (test["name"], test["result"]), file=sys.stderr)
        for line in log.splitlines()[-200:]:
            print("   | " + line, file=sys.stderr)
    elif counted[2]:
        log = (test.get("stdout", "") + test.get("stderr", "")).splitlines() or ["no reason given"]
        reasons = [line for line in log if re.match(r"skip", line, re.I)] or log[-1:]
        for reason in reasons:
            print("-- %s: skipped: %s" % (test["name"], reason), file=sys.stderr)


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
    assert case("OK", "0 passed, 1 failed, 0 skipped\n") == (0, 1, 0)


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
        tell(test, counted)
        if counted[1]:
            failed.append("%s: %s" % (test["name"], test["result"]))
        total = [a + b for a, b in zip(total, counted)]
    print(*total)
    for line in failed:
        print(line)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        main(sys.argv[1])
