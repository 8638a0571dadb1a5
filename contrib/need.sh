# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by quickstart.sh and check.sh: install Debian packages, only those that are missing.

BUILD_PACKAGES="gcc libc6-dev meson ninja-build pkg-config
    libhwloc-dev libjansson-dev zlib1g-dev python3"
TEST_PACKAGES="check g++ clang libclang-rt-14-dev binutils abigail-tools python3-pmix
    openmpi-bin libopenmpi-dev libpmix-dev libpmix2 slurm-wlm-basic-plugins strace iproute2 procps"

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt_install() { # as root; a fresh machine has no package lists yet
    $AS_ROOT env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@"
}

need_packages() {
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        echo "No apt-get here: these Debian packages, or what they are called where you are," \
            "must be installed: $*" >&2
        return 0
    fi
    missing=
    for package in "$@"; do
        is_installed "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0

    AS_ROOT=
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Please install these packages, as root:" >&2
            echo "    apt-get install$missing" >&2
            return 1
        fi
        AS_ROOT=sudo
    fi
    echo "Installing:$missing"
    # shellcheck disable=SC2086
    apt_install $missing || { $AS_ROOT apt-get update && apt_install $missing; } || {
        echo "Cannot install the packages:$missing" >&2
        return 1
    }
}
