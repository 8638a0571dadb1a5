#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian 12 or 13 machine to a job of four processes. May run again.
set -eu

cd "$(dirname "$0")/.."
. contrib/need.sh
# shellcheck disable=SC2086
need_packages $BUILD_PACKAGES </dev/null

[ -f build/build.ninja ] || meson setup build
ninja -C build

# Without /proc, as in a chroot, the dynamic linker cannot expand $ORIGIN, so it does not find the library.
[ -e /proc/self/exe ] || export LD_LIBRARY_PATH="$PWD/build/core"

echo
echo "\$ build/contrib/tools/pmixrun -n 4 build/contrib/examples/modex"
exec build/contrib/tools/pmixrun -n 4 build/contrib/examples/modex
