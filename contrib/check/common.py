# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the style checks: walking the tree, reporting, and proving that a check can fail.

Every check is a function check(root, build) that returns a list of violations, each a line of
text, and a function sample(root, build) that fills an empty tree with at least one violation.
"""
import os
import sys
import tempfile


def files(root, *suffixes, under=("",)):
    """Returns the sorted paths, relative to root, of the project's files with one of the suffixes."""
    found = set()
    for folder in under:
        for here, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [f for f in folders if not f.startswith(".") and f != "__pycache__"
                          and not os.path.isdir(os.path.join(here, f, "meson-private"))]
            found.update(os.path.relpath(os.path.join(here, n), root) for n in names
                         if n.endswith(suffixes))
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def write(root, path, text):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as f:
        f.write(text)


def table_rows(root, head):
    """Yields (path, line number, line) of each row of the tables in docs/ whose head matches."""
    for path in files(root, ".md", under=("docs",)):
        inside = False
        for number, line in enumerate(read(root, path).splitlines(), 1):
            inside = bool(head.match(line)) or (inside and line.startswith("|"))
            if inside and not head.match(line) and not set(line) <= set("|- "):
                yield path, number, line


def self_test(check, sample):
    """Returns violations of the sample that are missing or not expected. sample() returns a piece of each text."""
    with tempfile.TemporaryDirectory() as top:
        root, build = os.path.join(top, "tree"), os.path.join(top, "out")
        os.makedirs(root)
        os.makedirs(build)
        expected = sample(root, build)
        found = check(root, build)
    wrong = ["not found: " + e for e in expected if not any(e in line for line in found)]
    wrong += ["not expected: " + line for line in found
              if not any(e in line for e in expected)]
    return wrong


def main(check, sample, report=None):
    """Runs the self test or the check. report(root) prints figures that are not violations."""
    args = sys.argv[1:]
    if args == ["--self-test"]:
        violations = self_test(check, sample)
    elif len(args) == 2 and os.path.isfile(os.path.join(args[0], "meson.build")):
        if report:
            report(args[0])
        violations = check(*args)
    else:
        sys.exit("usage: %s --self-test | SOURCE_ROOT BUILD_ROOT" % sys.argv[0])
    for line in violations:
        print(line)
    sys.exit(1 if violations else 0)
