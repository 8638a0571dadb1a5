#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""loads.py PROGRAM: a binary that was built against another libpmix finds every symbol in ours, with LD_BIND_NOW=1,
and the process has loaded ours. loads.py --self-test: detects a library that lacks symbols, and a process with the
wrong library. loads.py unload: a program may unload a library that it has not finalized. Exit status 77: the binary is
not installed."""
import glob
import os
import re
import subprocess
import sys
import tempfile

import rows

exports = rows.exports
SKIPPED = 77
PYTHON = "/usr/bin/python3"  # Debian's Python, for Debian's module
LIB = "/usr/lib/*-linux-gnu*"

# Program -> (package, patterns of the file, code). Slurm's plugin takes its other symbols from the
# daemon, and expects that libpmix has been made global before it. Open MPI 4 has a component that uses
# libpmix, Open MPI 5 uses libpmix in one of its libraries.
PROGRAMS = {
    "python": ("python3-pmix", ("/usr/lib/python3/dist-packages/pmix.*.so",
                                "/usr/lib/python3/dist-packages/pypmix-*.egg/pmix.*.so"), """
import importlib.machinery, importlib.util
loader = importlib.machinery.ExtensionFileLoader("pmix", PATH)
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("pmix", loader))
loader.exec_module(module)
module.PMIxClient
"""),
    "openmpi": ("openmpi-bin", (LIB + "/openmpi/lib/openmpi*/mca_pmix_ext3x.so",
                                LIB + "/libopen-pal.so.80"), """
loaded = ctypes.CDLL(PATH)
loaded.opal_init_util if "libopen-pal" in PATH else loaded.mca_pmix_ext3x_component
"""),
    "slurm": ("slurm-wlm-basic-plugins", (LIB + "/slurm-wlm/mpi_pmix.so",), """
ctypes.CDLL(os.path.join(os.path.dirname(PATH), "libslurmfull.so"), ctypes.RTLD_GLOBAL)
ctypes.CDLL("libpmix.so.2", ctypes.RTLD_GLOBAL)
ctypes.CDLL(PATH).plugin_name
"""),
}

# The library's thread goes on after dlclose.
UNLOAD = """
import _ctypes, time
library = ctypes.CDLL("libpmix.so.2")
if library.PMIx_server_init(None, None, 0) != 0:
    sys.exit("PMIx_server_init fails")
_ctypes.dlclose(library._handle)
time.sleep(0.1)
"""

BEFORE = "import ctypes, os, sys\nPATH = sys.argv[1]\n"
AFTER = """
maps = open("/proc/self/maps").read().split()
print("\\n".join(sorted({os.path.realpath(w) for w in maps if "/libpmix.so" in w})))
"""


def imports(path):
    """Returns the names of libpmix that a file imports."""
    out = subprocess.run(["nm", "-D", "--undefined-only", path], check=True, capture_output=True,
                         text=True).stdout
    return [line.split()[-1] for line in out.splitlines() if line.split()[-1].startswith(("PMIx_", "pmix_framework"))]


def load(code, path, library):
    """Returns the reason why the file cannot be loaded with this library, or None."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(library, os.path.join(folder, "libpmix.so.2"))
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PMIX_", "LD_"))}
        env.update(LD_BIND_NOW="1", LD_LIBRARY_PATH=folder)
        result = subprocess.run([PYTHON, "-c", BEFORE + code + AFTER, path], env=env,
                                capture_output=True, text=True, timeout=60)
    if result.returncode != 0:
        return result.stderr.strip().splitlines()[-1] if result.stderr else "exit status %d" \
            % result.returncode
    taken = result.stdout.split()
    if taken != [library]:
        return "the process has taken %s" % (", ".join(taken) or "no libpmix")
    return None


def find(name):
    package, patterns, code = PROGRAMS[name]
    found = sorted(path for pattern in patterns for path in glob.glob(pattern))
    return package, found[0] if found else None, code


def check(name, library):
    package, path, code = find(name)
    if path is None:
        print("%s is not installed" % package)
        return SKIPPED
    why = load(code, path, library)
    names = imports(path)
    print("%s: %d functions of libpmix, %s" % (path, len(names), why or "all found"))
    provided = {symbol for symbol, _ in exports.exported(library)}
    lacking = [symbol for symbol in names if symbol not in provided]
    for symbol in lacking:
        print("not exported: %s" % symbol)
    return 1 if why or lacking or not names else 0


def self_test():
    """Expects failures: with a library without functions, in a process without libpmix, and in a process with another
    libpmix."""
    c = os.environ.get("CC", "cc").split()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        empty, other = (os.path.join(folder, n) for n in ("libpmix.so.2", "libpmix.so.2.1"))
        for path in (empty, other):
            subprocess.run([*c, "-shared", "-fPIC", "-x", "c", "-", "-o", path], check=True,
                           input="int PMIx_Nothing(void);\nint PMIx_Nothing(void) { return 1; }\n",
                           text=True)
        for name in PROGRAMS:
            _, path, code = find(name)
            why = load(code, path, empty) if path else "undefined symbol: PMIx_"
            if not re.search("undefined symbol: (PMIx_|pmix_)", why or ""):
                wrong.append("%s: undefined symbols not found: %s" % (name, why))
        if load("", "", empty) != "the process has taken no libpmix":
            wrong.append("a process without libpmix not found")
        if load("ctypes.CDLL(PATH)", other, empty) != "the process has taken " + other:
            wrong.append("a process with another libpmix not found")
        if load("ctypes.CDLL('libpmix.so.2')", "", empty) is not None:
            wrong.append("a process with the library not accepted")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in (*PROGRAMS, "unload", "--self-test"):
        sys.exit("usage: loads.py --self-test | unload | %s" % " | ".join(PROGRAMS))
    if os.environ.get("TENON_SANITIZE"):
        print("a sanitized library cannot be loaded into programs without the sanitizer")
        sys.exit(SKIPPED)
    if not os.path.exists("/proc/self/maps"):
        print("needs /proc")
        sys.exit(SKIPPED)
    if sys.argv[1] == "--self-test":
        sys.exit(self_test())
    library = os.path.realpath(os.path.join(os.environ["TENON_BUILD"], "core", "libpmix.so.2"))
    if sys.argv[1] == "unload":
        sys.exit(load(UNLOAD, "", library))
    sys.exit(check(sys.argv[1], library))


if __name__ == "__main__":
    main()
