#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of contrib/packaging agree with the tree: the version of Debian's changelog, of the rpm and of Spack is that of
meson.build; each option that a recipe sets exists; Spack's recipe runs with stand-ins for Spack, and names the options
of the variants."""
import re

import common

FOLDER = "contrib/packaging/"
VERSION = (("debian/changelog", r"^tenon \(([\d.]+)-"), ("tenon.spec", r"^Version: +([\d.]+)$"),
           ("spack/package.py", r'^    version\("([\d.]+)"'))
OPTION = re.compile(r"-D([\w.]+)=")
OWN = re.compile(r"^option\('(\w+)'", re.M)
MESON = {"werror", "pkgconfig.relocatable", "libdir"}  # options of meson itself


class Anything:
    """A stand-in for objects of Spack."""

    def __init__(self, **given):
        self.__dict__.update(given)


def spack_options(text, claim="5.0.7"):
    """Returns the options that Spack's recipe passes to meson."""
    names = {name: lambda *a, **k: None for name in ("license", "version", "variant", "depends_on", "conflicts")}
    names["MesonPackage"] = object
    exec(compile(text.replace("from spack.package import *", ""), "package.py", "exec"), names)
    recipe = names["Tenon"]()
    recipe.run_tests = False
    recipe.spec = Anything(satisfies=lambda what: what == "+tools", variants={"claim": Anything(value=claim)})
    return recipe.meson_args()


def check(root, _build):
    wanted = re.search(r"^  version: '([\d.]+)'", common.read(root, "meson.build"), re.M).group(1)
    options = MESON | set(OWN.findall(common.read(root, "meson_options.txt")))
    for path, pattern in VERSION:
        found = re.search(pattern, common.read(root, FOLDER + path), re.M)
        if not found or found.group(1) != wanted:
            yield "%s: version is not %s" % (FOLDER + path, wanted)
    spack = spack_options(common.read(root, FOLDER + "spack/package.py"))
    for path, text in (("debian/rules", None), ("tenon.spec", None), ("spack/package.py", " ".join(spack))):
        for option in OPTION.findall(text if text is not None else common.read(root, FOLDER + path)):
            if option not in options:
                yield "%s: no such option: %s" % (FOLDER + path, option)
    if "-Dtools=true" not in spack or "-Dclaim=5.0.7" not in spack:
        yield "%sspack/package.py: a variant sets no option" % FOLDER


def sample(root, _build):
    common.write(root, "meson.build", "project('x', 'c',\n  version: '1.2.3',\n")
    common.write(root, "meson_options.txt", "option('tools', type: 'boolean')\n")
    common.write(root, FOLDER + "debian/changelog", "tenon (1.2.2-1) unstable; urgency=medium\n")
    common.write(root, FOLDER + "debian/rules", "x -Dtools=true -Dtoolz=true\n")
    common.write(root, FOLDER + "tenon.spec", "Version:        1.2.4\n -Dwerror=false\n")
    common.write(root, FOLDER + "spack/package.py", "from spack.package import *\nclass Tenon(MesonPackage):\n"
                 "    version(\"1.2\")\n    def meson_args(self):\n        return ['-Dnone=1']\n")
    return ["debian/changelog: version", "tenon.spec: version", "package.py: version", "debian/rules: no such option: toolz",
            "package.py: no such option: none", "package.py: a variant"]


if __name__ == "__main__":
    common.main(lambda root, build: list(check(root, build)), sample)
