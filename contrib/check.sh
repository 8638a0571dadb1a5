#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build and run every test; the last line is "N passed, N failed, N skipped".
set -euo pipefail

usage() {
    cat <<'END'
usage: contrib/check.sh [--clang | --sanitize | --fuzz | --release | --all] [--no-install]

  (none)        all suites, with gcc, in build/
  --clang       all suites, with clang, in build-clang/
  --sanitize    unit, contract, integration and fuzz suites with AddressSanitizer and
                UndefinedBehaviorSanitizer, leaks included, in build-asan/
  --fuzz        every fuzz target for a minute, all at once, in build-fuzz/
  --release     the unit suite of a release build (-O3) whose components are all built in,
                in build-release/
  --all         all but --release, one after the other, summed up in one line
  --no-install  do not install missing packages
END
}

PARTS=(gcc) INSTALL=1
while [ $# -gt 0 ]; do
    case $1 in
        --clang) PARTS=(clang) ;;
        --sanitize) PARTS=(sanitize) ;;
        --fuzz) PARTS=(fuzz) ;;
        --release) PARTS=(release) ;;
        --all) PARTS=(gcc clang sanitize fuzz) ;;
        --no-install) INSTALL=0 ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

exec </dev/null
cd "$(dirname "$0")/.."
. contrib/need.sh
# shellcheck disable=SC2086
[ $INSTALL = 0 ] || need_packages $BUILD_PACKAGES $TEST_PACKAGES

PASSED=0 FAILED=0 SKIPPED=0
FAILURES= # told again at the end: whoever sees only that learns which
TARGETS= # all

# build DIR COMPILER OPTIONS... ; a folder that is there already keeps its other options
build() {
    local dir=$1 compiler=$2
    shift 2
    if [ ! -f "$dir/build.ninja" ]; then
        CC=$compiler meson setup "$dir" -Dtests=enabled "$@" || return
    elif ! grep -qx 'tests = enabled' "$dir/meson-private/cmd_line.txt"; then
        meson configure "$dir" -Dtests=enabled || return
    fi
    # shellcheck disable=SC2086
    ninja -C "$dir" $TARGETS
}

# run_part NAME DIR "SUITES" "TEST OPTIONS" COMPILER BUILD_OPTIONS...
run_part() {
    local name=$1 dir=$2 suites=$3 options=$4 start=$SECONDS s
    local counts=$'0 1 0\nall: it does not build'
    local args=()
    shift 4
    for s in $suites; do args+=(--suite "$s"); done
    echo "== $name: build in $dir"
    if build "$dir" "$@"; then
        echo "== $name: test"
        rm -f "$dir/meson-logs/testlog.json"
        # shellcheck disable=SC2086
        meson test -C "$dir" --no-rebuild $options "${args[@]}" || true
        counts=$(python3 contrib/check/summary.py "$dir/meson-logs/testlog.json")
    fi
    read -r p f k <<<"$counts"
    [ "$f" = 0 ] || FAILURES+=$(sed "1d; s/^/failed, $name: /" <<<"$counts")$'\n'
    PASSED=$((PASSED + p)) FAILED=$((FAILED + f)) SKIPPED=$((SKIPPED + k))
    echo "== $name: passed $p, failed $f, skipped $k, in $((SECONDS - start)) s"
}

for part in "${PARTS[@]}"; do
    case $part in
        gcc)
            run_part gcc build "unit contract integration conformance fuzz style" "" "${CC:-gcc}" ;;
        clang)
            run_part clang build-clang "unit contract integration conformance fuzz style" "" clang ;;
        release)
            run_part release build-release unit "" "${CC:-gcc}" --buildtype=release -Dbuiltin=all ;;
        sanitize)
            ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
                run_part sanitize build-asan "unit contract integration fuzz" "-t 4" "${CC:-gcc}" \
                -Db_sanitize=address,undefined -Db_lundef=false ;;
        fuzz)
            TARGETS=fuzzers run_part fuzz build-fuzz fuzzing "--num-processes 8" clang -Dfuzz=true ;;
    esac
done

printf '%s' "$FAILURES"
echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
[ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]
