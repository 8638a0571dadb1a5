#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Leftovers of a server that was killed together with its janitor. pmix_info --check lists the
# leftovers, and pmixrun --clean removes exactly these.
. "$(dirname "$0")/lib.sh"
suite_begin clean "$@"

PMIX_INFO=$BUILD/contrib/tools/pmix_info
WELL='configuration and components are all right'

# job DIR [COMMAND...]: starts a job, by COMMAND, with DIR as the server's folder; a process has
# registered DIR/file and DIR/tree
job() {
    local dir=$1
    shift
    mkdir -p "$dir/tree/deep"
    echo data >"$dir/file"
    echo data >"$dir/tree/deep/file"
    [ $# = 0 ] || chown -R 12345:12345 "$dir/file" "$dir/tree"
    PMIX_SERVER_TMPDIR=$dir start "$@" "$PMIXRUN" "$CLIENT" keep "$dir/file" "$dir/tree"
    JOB=$PID
    await_lines 1 REGISTERED
    # The janitor was made before the job, but may not run yet.
    until_true 20 pgrep -P "$JOB" -x tenon-janitor >/dev/null || fail "there is no janitor"
    JANITOR=$(pgrep -P "$JOB" -x tenon-janitor)
    KEEP=$(pgrep -P "$JOB" -x client) || fail "there is no process"
}

# Kills the server and the stopped janitor.
kill_both() {
    kill -STOP "$JANITOR"
    kill -9 "$JOB"
    wait "$JOB" 2>/dev/null || true
    kill -9 "$JANITOR"
    until_true 20 ended "$JANITOR" || fail "the janitor does not end" # the end frees its lock
}

# checks STATUS [DIR...]
checks() {
    local want=$1
    shift
    rc_of "$want" run 20 "$PMIX_INFO" --check "$@" >"$OUT" 2>"$ERR"
    lines 1 "^$WELL\$" "$OUT"
}

# cleans STATUS [ARGUMENT...]
cleans() {
    local want=$1
    shift
    rc_of "$want" run 60 "$PMIXRUN" --clean "$@" >"$OUT" 2>"$ERR"
    lines 1 '^pmixrun: removed [0-9]+ files and [0-9]+ folders; kept 0, left to others 0, failed 0$' "$OUT"
}

ended() { # true for a zombie, too
    case $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) in
        '' | Z | X) ;;
        *) return 1 ;;
    esac
}

listed_and_removed() {
    local dir=$TMPDIR/session
    export PMIX_SERVER_TMPDIR=$dir
    job "$dir"
    checks 0 # a living server has no leftovers
    kill_both
    checks 1
    lines 1 "^left: $dir/pmix-server\\..*: folder of the server that was process $JOB, uid $(id -u), .* to remove: [1-9]" "$OUT"
    lines 1 '^left: ' "$OUT"
    there "$dir/file" "$dir/tree/deep/file"
    cleans 0
    lines 1 '^pmixrun: removed ([3-9]|[1-9][0-9]+) files' "$OUT"
    gone "$dir/file" "$dir/tree" "$dir"/pmix-server.*
    ended "$KEEP" || fail "what should have ended with its server lives"
    checks 0
    lines 0 '^left: ' "$OUT"
    cleans 0
    lines 1 '^pmixrun: removed 0 files and 0 folders' "$OUT"
    rmdir "$dir"
}

# Files of a janitor at work are not leftovers, and the janitor leaves nothing.
janitors_leave_nothing() {
    local dir=$TMPDIR/session
    export PMIX_SERVER_TMPDIR=$dir
    job "$dir"
    kill -STOP "$JANITOR"
    kill -9 "$JOB"
    wait "$JOB" 2>/dev/null || true
    checks 0
    lines 0 '^left: ' "$OUT"
    cleans 0
    there "$dir/file" "$dir/tree/deep/file"
    kill -CONT "$JANITOR"
    until_true 5 test ! -e "$dir/file" || fail "the janitor has left a file"
    until_true 5 rmdir "$dir" 2>/dev/null || fail "the janitor has left something: $(ls "$dir")"
}

# On a file system without locks, a server is found by its process.
without_locks() {
    [ -z "$SANITIZE" ] || skip "a library that is preloaded comes before the sanitizer's"
    local dir=$TMPDIR/session
    printf '%s\n' '#include <errno.h>' 'int flock(int fd, int how) { (void)fd, (void)how; errno = ENOLCK; return -1; }' \
        >"$TMP/bin/no_flock.c"
    "${COMPILER[@]}" -shared -fPIC -o "$TMP/bin/no_flock.so" "$TMP/bin/no_flock.c"
    export PMIX_SERVER_TMPDIR=$dir
    job "$dir"
    mkdir -m 700 "$dir/pmix-server.abcdef" # of an unknown server
    LD_PRELOAD=$TMP/bin/no_flock.so checks 0
    lines 0 '^left: ' "$OUT"
    checks 1
    kill_both
    LD_PRELOAD=$TMP/bin/no_flock.so checks 1
    lines 1 "^left: $dir/pmix-server\..*: folder of the server that was process $JOB, " "$OUT"
    lines 1 '^left: ' "$OUT"
    LD_PRELOAD=$TMP/bin/no_flock.so cleans 0
    gone "$dir/file" "$dir/tree"
    there "$dir/pmix-server.abcdef"
    cleans 0
    rmdir "$dir"
}

in_folders_that_are_named() {
    local dir
    for dir in one two; do
        job "$TMPDIR/$dir"
        kill_both
    done
    checks 0
    checks 1 "$TMPDIR/one" "$TMPDIR/two"
    lines 2 '^left: ' "$OUT"
    cleans 0
    there "$TMPDIR/one/file" "$TMPDIR/two/file"
    cd "$TMPDIR"
    cleans 0 one two
    gone one/file one/tree two/file two/tree
    checks 0 one two
    rmdir one two
}

living_server_is_left_alone() {
    local dir=$TMPDIR/session living
    export PMIX_SERVER_TMPDIR=$dir
    job "$dir/living"
    living=$JOB
    PMIX_SERVER_TMPDIR=$dir OUT=$TMP/log/stays.out start "$PMIXRUN" "$CLIENT" keep "$dir/mine" "$dir/ours"
    JOB2=$PID
    await_lines 1 REGISTERED "$TMP/log/stays.out"
    echo data >"$dir/mine"
    job "$dir"
    kill_both
    cleans 0 "$dir" "$dir/living"
    gone "$dir/file" "$dir/tree"
    there "$dir/living/file" "$dir/living/tree/deep/file" "$dir/mine"
    same 1 "$(find "$dir" -maxdepth 1 -name 'pmix-server.*' | wc -l)" "folders of servers"
    kill -0 "$living" && kill -0 "$JOB2" || fail "a server has ended"
    kill -TERM "$living" "$JOB2"
    await "$living" 20
    await "$JOB2" 20
    until_true 5 test ! -e "$dir/mine" || fail "what was registered with the living stays"
    gone "$dir/living/file" "$dir/living/tree"
    rmdir "$dir/living" "$dir"
}

users_clean_up_after_themselves() {
    local dir=$TMPDIR/session
    need_other
    mkdir "$dir"
    chmod 1777 "$dir"
    job "$dir" "${OTHER[@]}"
    kill_both
    checks 1 "$dir" # root sees leftovers of all users
    lines 1 "^left: $dir/pmix-server\\..* uid 12345, " "$OUT"
    cleans 0 "$dir" # but does not clean up after others
    there "$dir/file" "$dir"/pmix-server.*
    rc_of 0 run 20 "${OTHER[@]}" "$PMIXRUN" --clean "$dir" >"$OUT" 2>"$ERR"
    gone "$dir/file" "$dir/tree" "$dir"/pmix-server.*
    checks 0 "$dir"
    rmdir "$dir"
}

# mistake STATUS REGEX OPTION...: a line like that, and nothing is removed
mistake() {
    local status=$1 regex=$2
    shift 2
    rc_of "$status" run 20 "$PMIXRUN" "$@" >"$OUT" 2>"$ERR"
    lines 1 "$regex" "$ERR"
    lines 0 removed "$OUT"
}

mistakes() {
    mistake 2 '^pmixrun: --clean /no/such/folder: No such file or directory; ' --clean /no/such/folder
    mistake 2 '^pmixrun: --clean /etc/passwd: Not a directory; ' --clean /etc/passwd
    mistake 2 '^pmixrun: --clean runs no program, ' -n 2 --clean
    mistake 2 '^pmixrun: --clean runs no program, ' --wdir /tmp --clean
    mistake 2 '^pmixrun: --clean runs no program, ' -x A=b --clean
    mistake 1 nix --mca mca_base_strict error --mca pcleanup nix --clean
    ! is_root || mistake 1 '^pmixrun: cannot clean up: (NOT-SUPPORTED|PMIX_ERR_NOT_SUPPORTED)$' --mca pcleanup inproc --clean
}

t listed-and-removed listed_and_removed
t janitors-leave-nothing janitors_leave_nothing
t without-locks without_locks
t in-folders-that-are-named in_folders_that_are_named
t living-server-is-left-alone living_server_is_left_alone
t users-after-themselves users_clean_up_after_themselves
t mistakes mistakes
suite_end
