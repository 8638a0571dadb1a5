#!/usr/bin/env bash
# shellcheck disable=SC2317 # functions are called through t
# SPDX-License-Identifier: BSD-3-Clause
# Attacks on registered clean-up by a client of another uid: on the walker alone, with each of its
# fallbacks, and on whole servers. Beside every case stands a canary tree that must stay as it is.
# HOSTILE_SWAPS=1000000 HOSTILE_FILES=1000000 is the long run.
. "$(dirname "$0")/../lib.sh"
suite_begin hostile "$@"

TESTS=$PROGRAMS/hostile
is_root || { say "SKIP hostile: needs root"; exit 77; }

# program SECONDS NAME ARGS...: its counts are shown, also when all is well
program() {
    local seconds=$1 rc=0
    shift
    [ -z "$SANITIZE" ] || seconds=$((seconds * 4))
    run $((seconds * ${HOSTILE_PATIENCE:-1})) "$@" >"$OUT" 2>"$ERR" || rc=$?
    grep -E '^(FAIL|LEFT OUT|# )|cases,' "$OUT" >&3 || true
    [ $rc = 0 ] || fail "exit status $rc: $(grep -m1 FAIL "$OUT" || tail -1 "$ERR")"
    grep -q ' canary intact every time$' "$OUT" || fail "it has not counted"
}

# As on an older kernel, or in a container that forbids what we would like best.
NEWER=(openat2 statx landlock clone3 pidfd_open close_range)
WALKER=$TESTS/hostile_walker
export HOSTILE_SWAPS=$((${HOSTILE_SWAPS:-100000} / 4))

fallbacks() { # fallbacks ERRNO POWERS
    HOSTILE_FILES=1000 program 120 "$WALKER" "$2" "${NEWER[@]/%/=$1}"
}

exec 3>&1
t 'a naive remover is beaten' program 60 "$WALKER" decoy
t 'the walker as the user' program 120 "$WALKER" user
t 'the walker with powers of root' program 120 "$WALKER" powers
t 'the walker as the user, where the kernel is old' fallbacks ENOSYS user
t 'the walker with powers of root, where calls are forbidden' fallbacks EPERM powers
suite_end
