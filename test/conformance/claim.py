#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The build option "claim" decides the release in macros, in pkg-config and for peers; see docs/adr/0031."""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLAIMS = {"4.2.9": ("0x00040209", "4.2"), "5.0.7": ("0x00050007", "5.0"), "6.1.0": ("0x00060100", "5.0")}
OPTIONS = ["-Dtests=disabled", "-Dtools=false", "-Ddocs=false"]


def configure(folder, claim):
    return subprocess.run([os.environ.get("MESON", "meson"), "setup", *OPTIONS, "-Dclaim=" + claim, folder, ROOT],
                          capture_output=True, text=True)


def text_of(*path):
    with open(os.path.join(*path)) as f:
        return f.read()


def check(claim):
    number, standard = CLAIMS[claim]
    with tempfile.TemporaryDirectory() as folder:
        result = configure(folder, claim)
        assert result.returncode == 0, result.stdout + result.stderr
        defined = dict(re.findall(r"^#define (\w+) (\S+)$", text_of(folder, "include", "pmix_version.h"), re.M))
        for part, value in zip(("MAJOR", "MINOR", "RELEASE"), claim.split(".")):
            assert defined["PMIX_VERSION_" + part] == value + "L", defined
        assert defined["PMIX_NUMERIC_VERSION"] == number, defined
        assert defined["TENON_CLAIMED_VERSION"] == '"%s"' % claim, defined
        assert defined["TENON_CLAIMED_STANDARD"] == '"%s"' % standard, defined
        assert "\nVersion: %s\n" % claim in text_of(folder, "meson-private", "pmix.pc")


def main():
    own = os.environ["TENON_ABI"]
    others = [claim for claim in sorted(CLAIMS) if claim != own]
    if not os.environ.get("PX_TEST_LONG"):
        check(others[0])
        return
    for claim in sorted(CLAIMS):
        check(claim)
    with tempfile.TemporaryDirectory() as folder:
        result = configure(folder, "4.2.2")
        assert result.returncode != 0 and "4.2.2" in result.stdout + result.stderr, result.stdout


if __name__ == "__main__":
    sys.exit(main())
