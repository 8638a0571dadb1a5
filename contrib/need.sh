# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by quickstart.sh and check.sh: installs missing Debian packages.

# "a|b" are alternatives: the first that is installed, or else the first that apt can install.
BUILD_PACKAGES="gcc libc6-dev meson ninja-build pkg-config
    libevent-dev libhwloc-dev libjansson-dev libltdl-dev zlib1g-dev python3"
# Headers of libraries that optional components use; the components are left out without them.
OPTION_PACKAGES="libmunge-dev libsystemd-dev"
BASIC_TEST_PACKAGES="check binutils iproute2 procps"
TEST_PACKAGES="$BASIC_TEST_PACKAGES g++ clang libclang-rt-dev|libclang-rt-14-dev"
# Programs and libraries of other projects that tests run and compare with. Their tests skip themselves without them.
FOREIGN_PACKAGES="python3-pmix openmpi-bin libopenmpi-dev libpmix-dev libpmix2|libpmix2t64 mpich libmpich-dev
    libpmi2-0-dev munge slurm-wlm-basic-plugins slurmctld slurmd slurm-client strace"
ORACLE_PACKAGES="abigail-tools musl-tools $FOREIGN_PACKAGES"
ROOT_PACKAGES="debootstrap" # for contrib/debian13.sh
# For contrib/packaging/try.sh, in a root of its own, beside the packages of the build.
PACKAGING_PACKAGES="autopkgtest lintian gcc iproute2 libmpich-dev libopenmpi-dev mpich openmpi-bin python3-mpi4py python3-pmix
    libpmix2|libpmix2t64 libpmix-dev munge slurm-wlm-basic-plugins slurmctld slurmd slurm-client"
BROWSER_PACKAGES="chromium-headless-shell|chromium" # 64 MB; for one case of the long form

installed= # by this run: a build folder that exists has not found them

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt_install() { # as root; a fresh machine has no package lists yet
    $AS_ROOT env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@"
}

has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

# True if apt knows a version of the package that it can install.
is_offered() {
    # No pipe into grep -q: it would end apt-cache by SIGPIPE, an error under pipefail.
    case $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) in
        *"Candidate: (none)"*) return 1 ;;
        *"Candidate: "*) return 0 ;;
    esac
    return 1
}

# Prints the alternative that is installed, or else one that apt offers, or nothing.
choose_package() {
    (
        IFS='|'
        for test in is_installed is_offered; do
            for choice in $1; do
                ! $test "$choice" || { echo "$choice"; exit; }
            done
        done
    )
}

as_root() {
    AS_ROOT=
    [ "$(id -u)" != 0 ] || return 0
    AS_ROOT=sudo
    command -v sudo >/dev/null
}

# Sets missing to the packages to install, and absent to the packages that apt does not offer.
find_missing() {
    missing= absent=
    for package in "$@"; do
        choice=$(choose_package "$package")
        if [ -z "$choice" ]; then
            absent="$absent $package"
        elif ! is_installed "$choice"; then
            missing="$missing $choice"
        fi
    done
}

# Finds packages after apt-get update, because a fresh machine is without package lists.
find_missing_after_update() {
    find_missing "$@"
    if [ -n "$absent" ] && as_root && $AS_ROOT apt-get update; then
        find_missing "$@"
    fi
}

install_missing() {
    [ -n "$missing" ] || return 0
    if ! as_root; then
        echo "Please install these packages, as root:" >&2
        echo "    apt-get install$missing" >&2
        return 1
    fi
    echo "Installing:$missing"
    # shellcheck disable=SC2086
    apt_install $missing || { $AS_ROOT apt-get update && apt_install $missing; } || {
        echo "Cannot install the packages:$missing" >&2
        return 1
    }
    installed="$installed$missing"
}

need_packages() {
    if ! has_apt; then
        echo "No apt-get here: these Debian packages, or what they are called where you are," \
            "must be installed: $*" >&2
        return 0
    fi
    find_missing_after_update "$@"
    if [ -n "$absent" ]; then
        echo "apt offers no package:$absent" >&2
        return 1
    fi
    install_missing
}

# Installs the named packages that apt offers. Prints a line for each other package, which is not an error.
want_packages() {
    has_apt || return 0
    find_missing "$@"
    [ -z "$absent" ] || echo "Skipping tests that need packages which apt does not offer:$absent"
    install_missing || echo "Skipping tests that need these packages:$missing"
}

# For the tests with programs of other projects, which are all needed. Fails if apt cannot install them.
need_interop() {
    # shellcheck disable=SC2086
    need_packages $BUILD_PACKAGES $BASIC_TEST_PACKAGES $FOREIGN_PACKAGES
}

need_packaging() {
    # shellcheck disable=SC2086
    need_packages $PACKAGING_PACKAGES
}
