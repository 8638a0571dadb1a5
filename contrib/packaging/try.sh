#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages, installs them in fresh roots, and runs programs of Debian on them. The first steps of a
# newcomer are the commands of README.md, in a root that has nothing else.
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
        --line | --newcomer | --build | --inside) break ;;
        -h | --help) usage; exit ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
cd "$(dirname "$0")/../.."
DEBS=build-deb
OTHER=(setpriv --reuid 12345 --regid 12345 --clear-groups env HOME=/)

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

# commands build|use: the commands of the section "Packages" of README.md, to build or to use the packages
commands() {
    awk '/^## / { here = /Packages/ } /^```/ { inside = !inside; next } here && inside' README.md |
        case $1 in
            build) sed '/deb\.sh/q' ;;
            use) sed '1,/deb\.sh/d' ;;
        esac
}

# line COMMAND: runs a command of README.md, and looks for its results.
line() {
    output=$(sh -ec "$1" </dev/null) || return
    echo "$output"
    case $1 in
        *MPI*) [ "$(grep -cE '^[0-3] of 4$' <<<"$output")" = 4 ] ;;
        *pps*) grep -qE ' 0 .* connected .*/pps$' <<<"$output" ;;
        *--check*) grep -q 'all right' <<<"$output" ;;
    esac
}

newcomer() {
    LOG=$(mktemp) RESULTS=$(mktemp)
    export DEBIAN_FRONTEND=noninteractive
    echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90yes
    expect package_lists apt-get update
    files=$(ls -A /tmp /dev/shm)
    while read -r command; do
        expect "newcomer: $command" line "$command"
        case $command in
            apt-get*) ;;
            *) expect "another user: $command" "${OTHER[@]}" bash "$0" --line "$command" ;;
        esac
    done < <(commands use)
    expect no_file_is_left [ "$files" = "$(ls -A /tmp /dev/shm)" ]
    results
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
    state 2>&1 | forget_addresses >/tmp/before
    expect install dpkg -i $DEBS/*.deb
    # Nothing of the sources or the build is in any path.
    cp -R $DEBS /tmp && rm -rf "/tmp/$DEBS"/tenon-*/
    cd /tmp && mount -t tmpfs tmpfs /src
    autopkgtest --output-dir /tmp/log "/tmp/$DEBS"/*.deb "/tmp/$DEBS"/*.dsc -- null >"$LOG" 2>&1 || :
    # Cases of the tests, and a line about each test: "slurm  PASS".
    grep -E '^(PASS|FAIL|    \|) ' "$LOG" || :
    grep -E '^(PASS|FAIL) ' "$LOG" >>"$RESULTS" || :
    [ -s /tmp/log/summary ] || fail autopkgtest "$(tail -n 1 "$LOG")"
    while read -r test verdict reason; do say "$verdict autopkgtest $test $reason"; done </tmp/log/summary
    umount /src && cd /src
    expect remove_default dpkg --remove tenon-default
    state 2>&1 | forget_addresses >/tmp/after
    expect openpmix_is_restored diff /tmp/before /tmp/after
    expect openmpi_runs_again openmpi_again
    expect library_beside pmixrun -n 2 true
    # shellcheck disable=SC2046
    expect purge dpkg --purge $(dpkg-query -W -f '${Package}\n' '*tenon*')
    expect no_file_is_left no_file_left
    results
}

results() { echo "results $(grep -c ^PASS "$RESULTS") $(grep -c ^FAIL "$RESULTS") $(grep -c ^SKIP "$RESULTS")"; }

# Without a network, but for the packages of Build-Depends.
build() {
    echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90yes
    rm -rf $DEBS
    apt-get update && commands build | sh -ex
}

case ${1:-} in
    --line) line "$2"; exit ;;
    --newcomer) newcomer; exit ;;
    --build) build; exit ;;
    --inside) inside; exit ;;
esac

# ---- outside ---------------------------------------------------------------------------------

# in_root NAME RELEASE [OPTION] COMMAND...: in a root for packages alone
CACHE=${XDG_CACHE_HOME:-/var/cache}/tenon
in_root() {
    contrib/debian13.sh --release "$2" --root "$CACHE/$1$2" "${@:3}"
}

# Makes the root of a newcomer, and its copy for the build.
make_roots() { # make_roots RELEASE
    in_root newcomer "$1" true || return
    [ -d "$CACHE/packages$1" ] || { rm -rf "$CACHE/packages.new" && cp -a "$CACHE/newcomer$1" "$CACHE/packages.new" &&
        mv "$CACHE/packages.new" "$CACHE/packages$1"; }
}

PASSED=0 FAILED=0 SKIPPED=0
# try NAME RELEASE ARGUMENT: runs this script in a root, which forgets the changes, and adds up.
try() {
    in_root "$1" "$2" --discard contrib/packaging/try.sh "$3" 2>&1 | tee "$log"
    read -r p f s <<END || { p=0 f=1 s=0; }
$(sed -n 's/^results //p' "$log")
END
    PASSED=$((PASSED + ${p:-0})) FAILED=$((FAILED + ${f:-1})) SKIPPED=$((SKIPPED + ${s:-0}))
}

for release in ${RELEASES:-12 13}; do
    echo "== Debian $release"
    log=$(mktemp)
    if ! make_roots "$release" >"$log" 2>&1; then
        echo "-- skipped, no root: $(tail -n 1 "$log")"
        SKIPPED=$((SKIPPED + 1))
    elif [ $KEEP = 0 ] && ! in_root packages "$release" env \
        DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-nocheck parallel=$(nproc)}" contrib/packaging/try.sh --build >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "-- failed: the packages do not build"
        FAILED=$((FAILED + 1))
    else
        rm -rf "$CACHE/newcomer$release/src/$DEBS"
        mkdir "$CACHE/newcomer$release/src/$DEBS"
        cp "$CACHE/packages$release/src/$DEBS"/*.deb "$CACHE/newcomer$release/src/$DEBS"
        try newcomer "$release" --newcomer
        # shellcheck disable=SC2016
        if in_root packages "$release" sh -c '. contrib/need.sh && need_packaging' >"$log" 2>&1; then
            try packages "$release" --inside
        else
            echo "-- skipped, no packages of the tests: $(tail -n 1 "$log")"
            SKIPPED=$((SKIPPED + 1))
        fi
    fi
    rm -f "$log"
done
echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
[ $FAILED = 0 ] && [ $((PASSED + SKIPPED)) -gt 0 ]
