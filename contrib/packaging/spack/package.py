# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack. Put this file into packages/tenon/ of a repository of recipes. There is not a public archive of a
release yet, so `spack dev-build tenon@0.1.0` builds a tree of the sources."""
from spack.package import *


class Tenon(MesonPackage):
    """Tenon, a second implementation of the PMIx Standard: a drop-in libpmix.so.2, a launcher and tools."""

    homepage = "https://pmix.org/"

    license("BSD-3-Clause")

    version("0.1.0")

    variant("tools", default=True, description="Build pmixrun, pmix_info and the other programs")
    variant("munge", default=False, description="Credentials by the daemon of MUNGE")
    variant("docs", default=False, description="Install the documentation")
    variant("claim", default="4.2.9", values=("4.2.9", "5.0.7", "6.1.0"), multi=False,
            description="Release of OpenPMIx that the library claims")

    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("python@3:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libevent@2.1:")
    depends_on("hwloc@2.1:2")
    depends_on("libtool")  # libltdl
    depends_on("zlib-api")
    depends_on("jansson@2.10:", when="+tools")
    depends_on("munge", when="+munge")
    depends_on("check@0.15:", type="test")

    conflicts("platform=darwin", msg="Tenon runs on Linux")
    conflicts("platform=windows", msg="Tenon runs on Linux")

    def meson_args(self):
        spec = self.spec
        return [
            # Open MPI looks for the library in PREFIX/lib.
            "-Dlibdir=lib",
            "-Dtools={0}".format("true" if spec.satisfies("+tools") else "false"),
            "-Ddocs={0}".format("true" if spec.satisfies("+docs") else "false"),
            "-Dtests={0}".format("enabled" if self.run_tests else "disabled"),
            "-Dclaim={0}".format(spec.variants["claim"].value),
        ]

    def check(self):
        meson("test", "-C", self.build_directory, "--suite", "unit", "--suite", "contract")
