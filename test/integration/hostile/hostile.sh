#!/usr/bin/env bash
# shellcheck disable=SC2317 # functions are called through t
# SPDX-License-Identifier: BSD-3-Clause
# Attacks on registered clean-up by a client of another uid: on the walker alone, with each of its
# fallbacks, and on whole servers. Each case also checks that a canary tree does not change.
#   hostile.sh PART [-k] [CASE_GLOB...]    PART: walker, server, servers_of_users
. "$(dirname "$0")/../lib.sh"
[ -n "${HOSTILE_PART:-}" ] || { export HOSTILE_PART=$1; shift; } # suite_begin may start this script again
suite_begin hostile "$@"

TESTS=$PROGRAMS/hostile
is_root || { print_line "SKIP hostile: needs root"; exit 77; }
unshare -mpf --mount-proc true 2>/dev/null ||
    { print_line "SKIP hostile: needs mount and pid namespaces"; exit 77; }

# program SECONDS NAME ARGS...: runs a program, and shows its counts, also after success
program() {
    local seconds=$1 rc=0
    shift
    [ -z "$SANITIZE" ] || seconds=$((seconds * 4))
    # Not by run: hundreds of clients need no record of the linker's.
    (exec env "TENON_TEST_MARK=$MARK" timeout -k 5 $((seconds * SCALE)) "$@") >"$OUT" 2>"$ERR" ||
        rc=$?
    grep -E '^(FAIL|LEFT OUT|# )|cases,' "$OUT" >&3 || true
    [ $rc != 77 ] || skip "$(grep -m1 'LEFT OUT' "$OUT")"
    [ $rc = 0 ] || fail "exit status $rc: $(grep -m1 FAIL "$OUT" || tail -1 "$ERR")"
    grep -q ' canary intact every time$' "$OUT" || fail "it has not counted"
}

# System calls that an older kernel lacks or a container forbids.
NEWER=(statx landlock clone3 pidfd_open close_range)
SCALE=$(times 1 10) # factor of the deadlines
# The leak checker traces the process, which does not work in a pid namespace.
[ -z "$SANITIZE" ] || export ASAN_OPTIONS=detect_leaks=0
WALKER=$TESTS/hostile_walker
# Numbers of swaps in each of five programs, and least numbers of sweeps at each point
HOSTILE_SWAPS=$(times 300 20000 1000)
HOSTILE_SWEEPS=$(times 2 1000 5)
EACH=$(times 5 1 1) # each so many rows and points of servers: the walker has all
export HOSTILE_SWAPS HOSTILE_SWEEPS

fallbacks() { # fallbacks ERRNO POWERS
    HOSTILE_DEPTH=$(times 1000 2000) HOSTILE_SWEEPS=$(times 3 15) \
        program 400 "$WALKER" "$2" "${NEWER[@]/%/=$1}"
}

# A confined walk is too slow for the depth of the other walks. A server ends each walk after seconds.
confined() { HOSTILE_DEPTH=2000 program 400 "$WALKER" user; }
on_server() {
    setpriv --reuid 12345 --regid 12345 --clear-groups test -x "$CLIENT" ||
        skip "another user cannot read the build folder"
    HOSTILE_DEPTH=1000 HOSTILE_EACH=$EACH program 400 "$TESTS/hostile_server"
}

# Fewer swaps and less depth, because the walk is the same as before. Only the requests differ.
on_own_server() { # on_own_server user|inproc|container
    HOSTILE_DEPTH=100 HOSTILE_EACH=$EACH program 400 "$TESTS/hostile_server" "$1"
}

# Not with a sanitizer, which would need minutes: the other cases run the same code.
long_t() { [ -n "$SANITIZE" ] || t "$@"; }

exec 3>&1
case $HOSTILE_PART in
    walker)
        t 'a naive remover is beaten' program 480 "$WALKER" decoy
        t 'the walker as the user' confined
        wide long_t 'the walker with powers of root' program 400 "$WALKER" powers
        wide long_t 'the walker as the user, where the kernel is old' fallbacks ENOSYS user
        wide long_t 'the walker with powers of root, where calls are forbidden' fallbacks EPERM powers
        ;;
    server)
        t 'a server of root' on_server
        ;;
    servers_of_users)
        t "a server of the attacker's own, in which no janitor may be" on_own_server inproc
        wide long_t "a server of the attacker's own" on_own_server user
        wide long_t 'a server in a container where the attacker is root' on_own_server container
        ;;
    *) die "no part $HOSTILE_PART" ;;
esac
suite_end
