#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh FUZZER REPLAY: fuzzes for FUZZ_S seconds (60), starting from the seeds that
# REPLAY writes. With FUZZ_DIR, what was found and the corpus stay there in a folder of the
# fuzzer's name, and the next run goes on from it.
set -euo pipefail

fuzzer=$(realpath "$1") replay=$(realpath "$2")
if [ -n "${FUZZ_DIR:-}" ]; then
    work=$FUZZ_DIR/$(basename "$fuzzer")
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work/corpus" "$work/seeds"
"$replay" --write "$work/seeds"
cd "$work"

failed=0
"$fuzzer" -max_total_time="${FUZZ_S:-60}" -rss_limit_mb=2048 -timeout=30 -print_final_stats=1 \
    corpus seeds >log 2>&1 || failed=$?
grep -E '^stat::|Done' log || true
if [ $failed != 0 ]; then
    grep -v '^#[0-9]' log | tail -n 100 # without the progress
    for found in crash-* leak-* timeout-* oom-*; do
        [ ! -f "$found" ] || { echo "$found:" && base64 "$found"; }
    done
fi
[ $failed = 0 ] # not the fuzzer's status: meson counts 77 as skipped
