#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""abidiff finds no incompatible change from Debian's libpmix to ours. diff.py library: our library has every
public function of Debian's. diff.py headers: compares the functions' types, and all types that they use, in
both headers. diff.py --self-test: both detect a change. Exit status 77: Debian's package or abidiff is not
installed."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import rows
import tables

SKIPPED = 77
THEIR_LIBRARY = "/usr/lib/*-linux-gnu*/libpmix.so.2"
THEIR_HEADERS = "/usr/lib/*-linux-gnu*/pmix2/include"

# Releases after 4.2.2 have added slots to the host's module, and so have we. The library detects their number at
# run time. Only the slots of 4.2.2 must stay in place.
ALLOWED = """
[suppress_type]
  name = pmix_server_module_4_0_0_t
  type_kind = struct
  has_data_member_inserted_at = end
  has_size_change = yes
"""


# A slot of 5.0 that has another place in 6.1.0 and here.
MOVED_SLOT = re.compile(r"\s*pmix_server_session_control_fn_t\s+session_control;")


def titles(table, wanted):
    return [tables.title(row) for row in tables.read(table) if wanted(row.cells)]


def public_functions():
    """Returns the functions of Debian's release. Its headers need not have other functions."""
    return titles("functions", lambda c: c["exported_by_debian_4.2.2"] == "yes")


def public_types():
    return titles("structs", lambda c: c["kind"] != "member" and c["v4.2.2"]) \
        + titles("callbacks", lambda c: c["kind"] == "typedef" and c["v4.2.2"])


def shim(functions, types):
    """Returns a source with the type of each function, and each type, in its debug information."""
    lines = ["#include <pmix.h>", "#include <pmix_server.h>", "#include <pmix_tool.h>"]
    lines += ["extern __typeof__(%s) *at_%s; __typeof__(%s) *at_%s = %s;" % ((n,) * 5)
              for n in functions]
    lines += ["extern %s *of_%s; %s *of_%s;" % ((n,) * 4) for n in types]
    return "\n".join(lines) + "\n"


def compile_shim(text, folders, path):
    c = rows.headers.compilers()[0]
    result = subprocess.run([*c, "-std=gnu11", "-D_GNU_SOURCE", "-g", "-shared", "-fPIC", "-x", "c",
                             "-", *("-I" + f for f in folders), "-o", path], input=text,
                            capture_output=True, text=True)
    if result.returncode != 0:
        errors = [line for line in result.stderr.splitlines() if " error: " in line]
        sys.exit("\n".join(errors or [result.stderr]))


def abidiff(old, new, *options):
    """Returns the report of abidiff. Empty without a change, or with harmless changes only, e.g. a new member of
    a union of the same size."""
    result = subprocess.run(["abidiff", "--no-added-syms", *options, old, new], text=True,
                            capture_output=True)
    return "" if result.returncode == 0 else (result.stdout + result.stderr).strip()


def without_moved_slots(folders, folder):
    """Copies of headers without the slots of the host's module that releases have moved: choices.RELEASE."""
    copies = []
    for i, source in enumerate(folders):
        copies.append(shutil.copytree(source, os.path.join(folder, str(i))))
        for path in glob.glob(os.path.join(copies[-1], "*.h")):
            with open(path, encoding="utf-8") as f:
                lines = f.readlines()
            with open(path, "w", encoding="utf-8") as f:
                f.writelines(line for line in lines if not MOVED_SLOT.match(line))
    return copies


def diff_headers(old, new, functions, types):
    text = shim(functions, types)
    with tempfile.TemporaryDirectory() as folder:
        old = without_moved_slots(old, folder)
        paths = [os.path.join(folder, n) for n in ("old.so", "new.so", "abignore")]
        compile_shim(text, old, paths[0])
        compile_shim(text, new, paths[1])
        with open(paths[2], "w", encoding="utf-8") as f:
            f.write(ALLOWED)
        return abidiff(paths[0], paths[1], "--suppressions", paths[2])


def diff_libraries(old, new, functions):
    """Compares names of public functions only, because Debian's library is without debug information."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "public")
        with open(path, "w", encoding="utf-8") as f:
            f.write("[abi_whitelist]\n" + "".join("  %s\n" % n for n in functions))
        return abidiff(old, new, "--kmi-whitelist", path)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        def headers(name, rank, member, extra):
            path = os.path.join(folder, name)
            os.mkdir(path)
            for empty in ("pmix_server.h", "pmix_tool.h"):
                open(os.path.join(path, empty), "w", encoding="utf-8").close()
            with open(os.path.join(path, "pmix.h"), "w", encoding="utf-8") as f:
                f.write("typedef unsigned pmix_rank_t;\nint PMIx_Get(%s rank);\n"
                        "typedef struct pmix_proc { pmix_rank_t %s; } pmix_proc_t;\n"
                        "typedef void *pmix_server_session_control_fn_t;\n"
                        "typedef struct pmix_server_module_4_0_0_t { void (*abort)(void); %s }\n"
                        "    pmix_server_module_t;\n" % (rank, member, extra))
            return [path]

        def library(name, text):
            path = os.path.join(folder, name)
            compile_shim(text, [], path)
            return path

        old = headers("old", "pmix_rank_t", "rank", "")
        moved = "pmix_server_session_control_fn_t session_control;\n"
        names = ["PMIx_Get"], ["pmix_proc_t", "pmix_server_module_t"]
        one = library("one.so", "int PMIx_Get, PMIx_Put, pmix_internal;")
        two = library("two.so", "int PMIx_Get, PMIx_New;")
        function = library("three.so", "int PMIx_Get(void); int PMIx_Get(void) { return 0; }")
        both = library("four.so", "int PMIx_Get(void); int PMIx_Get(void) { return 0; }\n"
                       "int PMIx_Put(void); int PMIx_Put(void) { return 0; }\n"
                       "int pmix_internal(void); int pmix_internal(void) { return 0; }")
        cases = {
            "a parameter": (diff_headers(old, headers("a", "long", "rank", ""), *names), "at_PMIx"),
            "a type": (diff_headers(old, headers("b", "pmix_rank_t", "pad, rank", ""), *names),
                       "of_pmix_proc_t"),
            "a moved slot": (diff_headers(headers("m", "pmix_rank_t", "rank", "\n" + moved),
                                          headers("n", "pmix_rank_t", "rank", "void (*more)(void); " + moved),
                                          *names), ""),
            "a new slot": (diff_headers(old, headers("c", "pmix_rank_t", "rank",
                                                     "void (*more)(void);"), *names), ""),
            "a function": (diff_libraries(both, function, ["PMIx_Get", "PMIx_Put"]), "PMIx_Put"),
            "an internal function": (diff_libraries(both, function, ["PMIx_Get"]), ""),
            "data": (diff_libraries(one, two, ["PMIx_Get", "PMIx_Put"]), "PMIx_Put"),
        }
    return ["%s: reported: %s" % (name, got or "nothing") for name, (got, want) in cases.items()
            if bool(got) != bool(want) or want not in got]


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("library", "headers", "--self-test"):
        sys.exit("usage: diff.py --self-test | library | headers")
    build = os.environ["TENON_BUILD"]
    theirs = glob.glob(THEIR_LIBRARY if sys.argv[1] == "library" else THEIR_HEADERS)
    if shutil.which("abidiff") is None or not theirs:
        print("abigail-tools, libpmix2 or libpmix-dev is not installed")
        sys.exit(SKIPPED)
    functions = public_functions()
    if sys.argv[1] == "library":
        wrong = diff_libraries(theirs[0], rows.Suite(build).library, functions)
        print("%d functions" % len(functions))
    elif sys.argv[1] == "headers":
        wrong = diff_headers(theirs[:1], rows.Suite(build).include, functions, public_types())
        print("%d functions, %d types" % (len(functions), len(public_types())))
    else:
        wrong = "\n".join(self_test())
    print(wrong, end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
