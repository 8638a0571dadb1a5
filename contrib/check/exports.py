#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The library exports exactly the names in the tables of public functions, of extensions and of objects,
without symbol versions. A component exports exactly its descriptor."""
import glob
import os
import subprocess

import common

DATA = "test/conformance/abi/data/"
TABLES = {DATA + "functions.tsv": "T", DATA + "extensions.tsv": "T", DATA + "objects.tsv": "D"}


def exported(path):
    """Returns (name, kind) of each dynamic symbol that a file defines."""
    out = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", path],
                         check=True, capture_output=True, text=True).stdout
    return [(line.split()[-1], line.split()[-2]) for line in out.splitlines()]


def public(root):
    """Returns {public name: kind of symbol}. Objects are in relocated constant data: kind D."""
    return {line.split("\t")[0]: kind for table, kind in TABLES.items()
            for line in common.read(root, table).splitlines()[1:]}


def check_library(path, allowed):
    names = exported(path)
    violations = [] if names else ["%s: exports nothing" % os.path.basename(path)]
    for name, kind in names:
        if "@" in name:
            violations.append("libpmix: versioned symbol %s" % name)
        elif allowed.get(name) != kind:
            violations.append("libpmix: exports %s (%s), not a public name" % (name, kind))
    return violations


def check_component(path):
    stem = os.path.basename(path)[:-len(".so")]
    wanted = "px_%s_component" % stem.removeprefix("pmix_mca_tenon_")
    names = [name for name, _ in exported(path)]
    if names == [wanted]:
        return []
    return ["%s: exports %s instead of %s" % (stem, " ".join(names) or "nothing", wanted)]


def check(root, build):
    violations = check_library(os.path.join(build, "core", "libpmix.so.2"), public(root))
    for path in sorted(glob.glob(os.path.join(build, "core", "pmix", "*.so"))):
        violations += check_component(path)
    return violations


def make(root, build, output, source):
    common.write(root, "x.c", source)
    output = os.path.join(build, "core", output)
    os.makedirs(os.path.dirname(output), exist_ok=True)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", "-o", output,
                    os.path.join(root, "x.c")], check=True)


def sample(root, build):
    common.write(root, DATA + "functions.tsv", "name\tprototype\nPMIx_Good\tvoid PMIx_Good(void)\n"
                 "PMIx_data\tint PMIx_data(void)\n")
    common.write(root, DATA + "extensions.tsv", "name\tprototype\nPMIx_Own\tvoid PMIx_Own(void)\n")
    common.write(root, DATA + "objects.tsv", "name\tdeclaration\npmix_names\textern int pmix_names\n"
                 "pmix_called\textern int pmix_called\n")
    make(root, build, "libpmix.so.2", "void PMIx_Good(void) {}\nvoid PMIx_Own(void) {}\n"
         "void PMIx_Bad(void) {}\n"
         "void px_secret(void) {}\nint PMIx_data = 1;\nint pmix_names = 1;\nvoid pmix_called(void) {}\n")
    make(root, build, "pmix/pmix_mca_tenon_ptl_good.so", "const int px_ptl_good_component = 1;\n")
    make(root, build, "pmix/pmix_mca_tenon_ptl_chatty.so",
         "const int px_ptl_chatty_component = 1;\nvoid helper(void) {}\n")
    make(root, build, "pmix/pmix_mca_tenon_ptl_mute.so", "static const int x = 1;\n"
         "__attribute__((visibility(\"hidden\"))) int f(void) { return x; }\n")
    return ["PMIx_Bad (T)", "px_secret (T)", "PMIx_data (D)", "pmix_called (T)", "pmix_mca_tenon_ptl_chatty: ",
            "pmix_mca_tenon_ptl_mute: "]


if __name__ == "__main__":
    common.main(check, sample)
