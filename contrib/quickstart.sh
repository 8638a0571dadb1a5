#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian 12 or 13 machine to four processes that know each other. Fine to run twice.
set -eu

cd "$(dirname "$0")/.."
. contrib/need.sh
# shellcheck disable=SC2086
need_packages $BUILD_PACKAGES </dev/null

[ -f build/build.ninja ] || meson setup build
ninja -C build

# In a chroot without /proc programs do not know where they are, and so not where their library is.
[ -e /proc/self/exe ] || export LD_LIBRARY_PATH="$PWD/build/core"

echo
echo "\$ build/contrib/tools/pmixrun -n 4 build/contrib/examples/modex"
exec build/contrib/tools/pmixrun -n 4 build/contrib/examples/modex
