#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build and run the tests; the last line is "N passed, N failed, N skipped".
set -euo pipefail

usage() {
    cat <<'END'
usage: contrib/check.sh [PART | --all] [--long] [--no-install]

  (none)        all suites but `kernels` and `wide`, with gcc, in build/
  --quick       of these unit, contract and style: what to run before each commit
  --clang       unit and contract suites, with clang, in build-clang/
  --sanitize    unit, contract and fuzz suites, and some of integration, with AddressSanitizer
                and UndefinedBehaviorSanitizer, leaks included, in build-asan/
  --threads     with ThreadSanitizer what reads while another writes, in build-tsan/
  --fuzz        every fuzz target for 20 seconds, in build-fuzz/
  --release     the unit suite of a release build (-O3) whose components are all built in,
                in build-release/
  --interop     programs of other projects: Open MPI, MPICH, Slurm, python3-pmix, in build/; prints
                a table of cases and libraries
  --interop13   the same on Debian 13, in a root that contrib/debian13.sh makes; skipped where this
                is impossible
  --packages    builds the Debian packages, installs them in roots of Debian 12 and 13, and runs programs of
                Debian on them (contrib/packaging/try.sh); some 15 minutes
  --ports       unit and contract suites on i386 and, by qemu, on s390x (big-endian) and arm64, in roots that
                contrib/debian13.sh makes; a machine that cannot run here is skipped; some 20
                minutes, later 10
  --port NAME   the same on one of these machines
  --all         gcc with `kernels`, the wide form and 10,000 launches, clang, sanitize, threads, fuzz, and, if the
                root is there, interop13; one after the other, summed up in one line
  --long        the long form of what has one: with gcc alone that, with other parts also all
                suites; a minute of each fuzz target
  --no-install  do not install missing packages
END
}

PARTS=(gcc) INSTALL=1 LONG=0
while [ $# -gt 0 ]; do
    case $1 in
        --quick) PARTS=(quick) ;;
        --clang) PARTS=(clang) ;;
        --sanitize) PARTS=(sanitize) ;;
        --threads) PARTS=(threads) ;;
        --fuzz) PARTS=(fuzz) ;;
        --release) PARTS=(release) ;;
        --interop) PARTS=(interop) ;;
        --interop13) PARTS=(interop13) ;;
        --packages) PARTS=(packages) ;;
        --ports) PARTS=(ports) ;;
        --port | --port-here) [ $# -gt 1 ] || { usage >&2; exit 2; }; PARTS=("${1#--}") MACHINES=$2; shift ;;
        --all) PARTS=(gcc clang sanitize threads fuzz interop13) ;;
        --long) LONG=1 ;;
        --no-install) INSTALL=0 ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

exec </dev/null
cd "$(dirname "$0")/.."
. contrib/need.sh
. contrib/ports.sh
MACHINES=${MACHINES:-$PORTS}
for machine in $MACHINES; do port_names "$machine"; done
# shellcheck disable=SC2086
if [ $INSTALL = 0 ]; then
    :
elif [[ " interop13 packages ports port " = *" ${PARTS[*]} "* ]]; then
    want_packages $ROOT_PACKAGES
elif [ "${PARTS[*]}" = interop ]; then
    need_interop
else
    need_packages $BUILD_PACKAGES $TEST_PACKAGES
    want_packages $OPTION_PACKAGES $ORACLE_PACKAGES
    [ $LONG = 0 ] || want_packages $BROWSER_PACKAGES
fi

PASSED=0 FAILED=0 SKIPPED=0
REPORTS= # failed and unsteady tests, for the end
TARGETS= # all
JOBS=$(($(nproc) * 3)) # tests wait more than they compute

# ---- the temporary folder -----------------------------------------------------------------

# Tests get a folder of their own, as open as /tmp; it must be empty after each part. Files
# that ignore TMPDIR are found by their names and ages.
SYSTEM_TMP=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$SYSTEM_TMP/check.XXXXXX")
chmod 1777 "$TMPDIR"
export TMPDIR
STARTED=$TMPDIR.started
: >"$STARTED"
clean_up() { rm -rf "$TMPDIR" "$STARTED" "$TMPDIR.13"; }
trap clean_up EXIT

left_behind() {
    find "$TMPDIR" -mindepth 1 -maxdepth 2
    find "$SYSTEM_TMP" /tmp /var/tmp /dev/shm -mindepth 1 -maxdepth 1 -newer "$STARTED" \
        -user "$(id -u)" \( -name 'pmix-*' -o -name 'px[._-]*' -o -name 'px_*' -o -name 't[nkfb].*' \
        -o -name 'tenon*' -o -name 'contract.*' -o -name 'hostile.*' \) 2>/dev/null
}

# Waits up to a second for janitors and other processes in the background.
check_left_behind() { # check_left_behind PART
    local i
    for i in 1 2 3 4 5 6 7 8 9 10; do
        [ -n "$(left_behind)" ] || return 0
        sleep 0.5
    done
    left_behind | sort -u | sed 's/^/-- left behind: /' | head -50
    REPORTS+="$1, failed: files are left behind in the temporary folder"$'\n'
    FAILED=$((FAILED + 1))
    rm -rf "${TMPDIR:?}"/*
    touch "$STARTED"
}

# ---- parts --------------------------------------------------------------------------------

# build DIR COMPILER OPTIONS... ; an existing folder keeps its other options, and finds packages that are new
build() {
    local dir=$1 compiler=$2
    shift 2
    if [ ! -f "$dir/build.ninja" ]; then
        CC=$compiler meson setup "$dir" -Dtests=enabled "$@" || return
    elif [ -n "$installed" ] || ! grep -qx 'tests = enabled' "$dir/meson-private/cmd_line.txt"; then
        meson setup --reconfigure "$dir" -Dtests=enabled || return
    fi
    # shellcheck disable=SC2086
    ninja -C "$dir" $TARGETS
}

# Runs up to three failed tests once more, alone. The summary names those that pass then: they are to be mended.
try_again() { # try_again DIR OPTIONS
    local names
    names=$(python3 contrib/check/summary.py --failed "$1"/meson-logs/testlog*.json)
    [ -n "$names" ] || return 0
    echo "== again: $names"
    # shellcheck disable=SC2086
    meson test -C "$1" --no-rebuild --num-processes 1 --logbase again $2 $names || true
}

# run_part NAME DIR "SUITES" "TEST OPTIONS" COMPILER BUILD_OPTIONS...
run_part() {
    local name=$1 dir=$2 suites=$3 options=$4 start=$SECONDS built s
    local counts=$'0 1 0\nfailed: it does not build'
    local args=()
    shift 4
    for s in $suites; do args+=(--suite "$s"); done
    echo "== $name: build in $dir"
    if build "$dir" "$@"; then
        built=$((SECONDS - start))
        echo "== $name: test"
        rm -f "$dir"/meson-logs/{testlog,again}*.json
        # shellcheck disable=SC2086
        meson test -C "$dir" --no-rebuild --num-processes $JOBS $options "${args[@]}" ||
            try_again "$dir" "$options"
        counts=$(python3 contrib/check/summary.py "$dir"/meson-logs/testlog*.json "$dir"/meson-logs/again*.json)
    fi
    read -r p f k <<<"$counts"
    [ "$(wc -l <<<"$counts")" = 1 ] || REPORTS+=$(sed "1d; s/^/$name, /" <<<"$counts")$'\n'
    PASSED=$((PASSED + p)) FAILED=$((FAILED + f)) SKIPPED=$((SKIPPED + k))
    check_left_behind "$name"
    echo "== $name: passed $p, failed $f, skipped $k, in $((SECONDS - start)) s," \
        "of which ${built:-all} s to build"
}

run_long() { # run_long NAME DIR COMPILER BUILD_OPTIONS...
    run_part "$1, long" "$2" long "--setup long" "${@:3}"
}

# Adds up a part that another Debian runs. A machine that cannot make its root, or install the packages, skips the part.
run_in_root() { # run_in_root PART "OPTIONS OF debian13.sh" "PREPARING COMMAND" COMMAND...
    local part=$1 root=$2 prepare=$3 rc=0 log=$TMPDIR.13 reports
    shift 3
    echo "== $part: root of Debian"
    # shellcheck disable=SC2086
    timeout 1500 contrib/debian13.sh $root bash -c "$prepare" >"$log" 2>&1 || rc=$?
    if [ $rc != 0 ]; then
        echo "-- skipped, no root of Debian with the packages: $(tail -n 1 "$log"): $part"
        SKIPPED=$((SKIPPED + 1))
        return
    fi
    # shellcheck disable=SC2086
    add_up "$part" contrib/debian13.sh $root "$@"
    reports=$(sed -nE "s/^[a-z0-9]+, (failed|unsteady): /$part, \\1: /p" "$log")
    REPORTS+=$reports${reports:+$'\n'}
}

# Beside other parts the root of Debian 13 must be there, because making one takes ten minutes.
run_interop13() {
    local existing=
    [ ${#PARTS[@]} = 1 ] && export PX_TEST_BASELINE=1 || existing=--existing # --all does without
    run_in_root interop13 "$existing" '. contrib/need.sh && need_interop' contrib/check.sh --interop --no-install
}

# Each machine has a root of its own.
run_ports() {
    local machine
    for machine in $MACHINES; do
        run_in_root "$machine" "--release 12 --root ${XDG_CACHE_HOME:-/var/cache}/tenon/ports-$machine" \
            ". contrib/need.sh && . contrib/ports.sh && port_need $machine" \
            contrib/check.sh --port-here "$machine" --no-install
    done
}

# Runs in the root of a machine. docs/ports.md has the cases that an emulator cannot run, and each case that is skipped.
run_port_here() {
    local machine=$1 dir=build-$1 limits='' wrong logs
    trap 'port_emulate_no_more; clean_up' EXIT
    port_emulate "$machine"
    port_cross_file "$machine" >"$dir.cross"
    if [ -n "$QEMU" ]; then
        export PX_TEST_SKIPS=$PWD/$dir.skips CK_DEFAULT_TIMEOUT=240
        python3 contrib/check/ports.py --lacks "$machine" >"$PX_TEST_SKIPS"
        limits="-t 8"
    fi
    run_part "$machine" "$dir" "unit contract" "$limits" gcc --cross-file "$dir.cross"
    logs=$(ls "$dir"/meson-logs/testlog*.json "$dir"/meson-logs/again*.json 2>/dev/null) || true
    # shellcheck disable=SC2086
    wrong=$(python3 contrib/check/ports.py "$machine" $logs) || FAILED=$((FAILED + 1))
    [ -z "$wrong" ] || REPORTS+=$(sed "s/^/$machine, /" <<<"$wrong")$'\n'
}

# add_up PART COMMAND...: runs a command whose last line has its counts
add_up() {
    local part=$1 p f k
    shift
    "$@" 2>&1 | tee "$TMPDIR.13" || true
    read -r p f k <<<"$(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$TMPDIR.13")" || true
    [ -n "$p" ] || { p=0 f=1 k=0 && REPORTS+="$part, failed: it does not run"$'\n'; }
    PASSED=$((PASSED + p)) FAILED=$((FAILED + f)) SKIPPED=$((SKIPPED + k))
}

QUICK="unit contract style"
ALL="$QUICK conformance fuzz integration"
for part in "${PARTS[@]}"; do
    case $part in
        gcc)
            [ ${#PARTS[@]} = 1 ] && suites=$ALL form= || suites="$ALL kernels wide" form="--setup wide --no-suite short"
            [ "$LONG${#PARTS[@]}" = 11 ] || run_part gcc build "$suites" "$form" "${CC:-gcc}"
            [ $LONG = 0 ] || run_long gcc build "${CC:-gcc}"
            [ $LONG = 1 ] || [ ${#PARTS[@]} = 1 ] ||
                run_part "gcc, launches" build launches "--setup long" "${CC:-gcc}"
            ;;
        quick)
            run_part quick build "$QUICK" "" "${CC:-gcc}" ;;
        clang)
            [ $LONG = 1 ] && suites=$ALL || suites="unit contract"
            run_part clang build-clang "$suites" "" clang
            ;;
        release)
            run_part release build-release unit "" "${CC:-gcc}" --buildtype=release -Dbuiltin=all ;;
        sanitize)
            [ $LONG = 1 ] && suites="unit contract kernels fuzz integration" || suites="unit contract kernels fuzz sanitize"
            ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
                run_part sanitize build-asan "$suites" "-t 4" "${CC:-gcc}" \
                --buildtype=debug -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false
            ;;
        interop)
            TARGETS=interop run_part interop build interop "--setup wide" "${CC:-gcc}"
            python3 contrib/check/summary.py --table build/meson-logs/{testlog,again}*.json
            ;;
        interop13)
            run_interop13 ;;
        packages)
            add_up packages contrib/packaging/try.sh
            REPORTS+=$(sed -n 's/^FAIL /packages, failed: /p' "$TMPDIR.13")
            ;;
        ports | port)
            run_ports ;;
        port-here)
            run_port_here "$MACHINES" ;;
        threads)
            TARGETS="test/unit/components/test_components_shm_protocol test/unit/base/test_base_gate" \
                run_part threads build-tsan threads "-t 4" "${CC:-gcc}" \
                --buildtype=debug -Doptimization=1 -Db_sanitize=thread -Db_lundef=false
            ;;
        fuzz)
            [ $LONG = 1 ] && seconds=60 || seconds=20
            FUZZ_S=${FUZZ_S:-$seconds} TARGETS=fuzzers \
                run_part fuzz build-fuzz fuzzing "" clang -Dfuzz=true
            ;;
    esac
done

printf '%s' "$REPORTS"
echo "in $SECONDS s:"
echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
[ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]
