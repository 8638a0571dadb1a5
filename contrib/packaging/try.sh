#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages, installs them in fresh roots, and runs programs of Debian on them.
set -eu

usage() {
    cat <<'END'
usage: contrib/packaging/try.sh [--keep] [12 | 13]...

  12, 13  releases of Debian (default: both), in roots of contrib/debian13.sh
  --keep  tries the packages that an earlier run has built

The last line is "N passed, N failed, N skipped". Without a root for a release, the release is skipped.
END
}

KEEP=0 RELEASES=
while [ $# -gt 0 ]; do
    case $1 in
        --keep) KEEP=1 ;;
        12 | 13) RELEASES="$RELEASES $1" ;;
        --inside) break ;;
        -h | --help) usage; exit ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
cd "$(dirname "$0")/../.."
DEBS=build-deb

# ---- in the root, which forgets everything ---------------------------------------------------

say() { echo "$*" | tee -a "$RESULTS"; }
pass() { say "PASS $1"; }
fail() { say "FAIL $1: $2"; }
# expect NAME COMMAND...
expect() {
    name=$1
    shift
    if "$@" >"$LOG" 2>&1; then pass "$name"; else fail "$name" "$(tail -n 1 "$LOG")"; tail -n 40 "$LOG"; fi
}

# Prints what the packages may change: links of the library, the linker's order, diversions, commands.
state() {
    ls -l /usr/lib/*/libpmix.so* /usr/lib/*/pmix2/lib/ /usr/bin/pr* /etc/ld.so.conf.d
    ldconfig -p | grep libpmix
    dpkg-divert --list
    ldd /usr/bin/mpirun.openmpi
}

forget_addresses() { sed -E 's/ \(0x[0-9a-f]+\)//; s/(^| )total [0-9]+//'; }

no_file_left() { [ -z "$(find / -xdev -path /src -prune -o -iname '*tenon*' -print | tee /dev/stderr)" ]; }

# OpenPMIx works again, also for a server.
openmpi_again() {
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 \
        PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 mpirun.openmpi -n 1 true
}

inside() {
    LOG=$(mktemp) RESULTS=$(mktemp)
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2046
    expect lintian lintian --allow-root --fail-on error,warning --tag-display-limit 0 $DEBS/*.changes
    cp contrib/packaging/debian/tests/installed /tmp/installed
    state 2>&1 | forget_addresses >/tmp/before
    expect install dpkg -i $DEBS/*.deb
    # Nothing of the sources or the build is in any path.
    cd /tmp && mount -t tmpfs tmpfs /src
    ./installed >"$LOG" 2>&1 || :
    cat "$LOG"
    grep -E '^(PASS|FAIL) ' "$LOG" >>"$RESULTS" || fail installed "$(tail -n 1 "$LOG")"
    umount /src && cd /src
    expect remove_default dpkg --remove tenon-default
    state 2>&1 | forget_addresses >/tmp/after
    expect openpmix_is_restored diff /tmp/before /tmp/after
    expect openmpi_runs_again openmpi_again
    expect library_beside pmixrun -n 2 true
    # shellcheck disable=SC2046
    expect purge dpkg --purge $(dpkg-query -W -f '${Package}\n' '*tenon*')
    expect no_file_is_left no_file_left
    echo "results $(grep -c ^PASS "$RESULTS") $(grep -c ^FAIL "$RESULTS")"
}

if [ "${1:-}" = --inside ]; then
    inside
    exit
fi

# ---- outside ---------------------------------------------------------------------------------

# in_root RELEASE [OPTION] COMMAND...: in a root for packages alone
in_root() {
    contrib/debian13.sh --release "$1" --root "${XDG_CACHE_HOME:-/var/cache}/tenon/packages$1" "${@:2}"
}

PASSED=0 FAILED=0 SKIPPED=0
for release in ${RELEASES:-12 13}; do
    echo "== Debian $release"
    log=$(mktemp)
    # shellcheck disable=SC2016
    if ! in_root "$release" sh -c '. contrib/need.sh && need_packaging' >"$log" 2>&1; then
        echo "-- skipped, no root with the packages: $(tail -n 1 "$log")"
        SKIPPED=$((SKIPPED + 1))
    elif [ $KEEP = 0 ] && ! in_root "$release" env \
        DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-nocheck parallel=$(nproc)}" contrib/packaging/deb.sh $DEBS >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "-- failed: the packages do not build"
        FAILED=$((FAILED + 1))
    else
        in_root "$release" --discard contrib/packaging/try.sh --inside 2>&1 | tee "$log"
        read -r p f <<END || { p=0 f=1; }
$(sed -n 's/^results //p' "$log")
END
        PASSED=$((PASSED + ${p:-0})) FAILED=$((FAILED + ${f:-1}))
    fi
    rm -f "$log"
done
echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
[ $FAILED = 0 ] && [ $((PASSED + SKIPPED)) -gt 0 ]
