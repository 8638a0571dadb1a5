#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages of this source tree, without a network.
set -eu

case ${1:---help} in
    -h | --help)
        cat <<'END'
usage: contrib/packaging/deb.sh DIR [OPTION]...

  DIR     gets the source package and the binary packages
  OPTION  for dpkg-buildpackage (default: -us -uc)

The variable DEB_BUILD_OPTIONS has its usual meaning, for example "nocheck parallel=2". The
packages of Build-Depends in debian/control must be installed.
END
        exit ;;
esac
mkdir -p "$1"
OUT=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."

VERSION=$(sed -nE "s/^  version: '(.*)',/\1/p" meson.build)
SOURCE=$OUT/tenon-$VERSION
rm -rf "$SOURCE"
mkdir "$SOURCE"
tar -cf - --exclude='./build*' --exclude=./.git --exclude=__pycache__ . | tar -C "$SOURCE" --no-same-owner -xf -
tar -C "$OUT" -cJf "$OUT/tenon_$VERSION.orig.tar.xz" "tenon-$VERSION"
cp -R contrib/packaging/debian "$SOURCE"
cd "$SOURCE"
[ $# -gt 0 ] || set -- -us -uc
dpkg-buildpackage "$@"
