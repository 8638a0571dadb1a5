#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Registered clean-up with real processes: the scenarios of host/cleanup_host.c, whose ranks are clients of
# our library or of Debian's, which come by TCP; and programs under pmixrun.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin cleanup "$@"
DEBIAN_DIR=$(dirname "${DEBIAN_LIB:-/nowhere/x}")
pr() { run 60 "$PMIXRUN" "$@"; }

# ---- a host of our own -------------------------------------------------------------------------

play() { # play SCENARIO CLIENTS
    mkdir "$TMPDIR/work"
    CLEANUP_DIR=$TMPDIR/work run 90 "$PROGRAMS/cleanup_host" "$1" "$2" >"$OUT" 2>"$ERR" ||
        fail "exit status $?: $(tail -1 "$ERR")"
    lines 1 "^OK $1\$" "$OUT"
    rmdir "$TMPDIR/work" # all else is left behind, and found
}

with_our_clients() { play "$1" "$PROGRAMS"; }

with_debian_clients() {
    need_debian_headers
    export HOST_CLIENT_LIBRARY=$DEBIAN_DIR
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 play "$1" "$TMP/bin/clients"
    rm -rf "$TMPDIR"/pmix_dstor_* "$TMPDIR"/ompi.*
}

# ---- pmixrun ------------------------------------------------------------------------------------

own_files() {
    STRICT=1 pr -n 4 "$PROGRAMS/cleanup" file "$TMPDIR/f%r" remove "$TMPDIR/f%r" ask finalize \
        there "$TMPDIR/f%r" >"$OUT"
    lines 4 '^OK cleanup [0-3]$' "$OUT"
}

files_of_the_job() {
    : >"$TMPDIR/shared"
    pr -n 4 "$PROGRAMS/cleanup" job remove "$TMPDIR/shared" ask finalize there "$TMPDIR/shared" >"$OUT"
    lines 4 '^OK cleanup [0-3]$' "$OUT"
}

killed_ranks() { # the first that is ends the other one, wherever that is
    rc_of 137 pr -n 2 "$PROGRAMS/cleanup" tree "$TMPDIR/d%r" ask dir "$TMPDIR/d%r" file "$TMPDIR/d%r/x" \
        kill 2>"$ERR"
}

script() { # its own scope is that of the rank, whose processes all have to end
    pr -n 1 sh -c "$PROGRAMS/cleanup file $TMPDIR/a remove $TMPDIR/a ask finalize &&
        test -e $TMPDIR/a &&
        $PROGRAMS/cleanup file $TMPDIR/b remove $TMPDIR/b ask finalize && test -e $TMPDIR/a" >"$OUT"
    lines 2 '^OK cleanup 0$' "$OUT"
}

in_the_background() { # what a rank has left behind is ended; and then it is its files' turn
    mkdir "$TMPDIR/d"
    : >"$TMPDIR/d/f"
    : >"$TMPDIR/f"
    pr -n 1 sh -c 'setsid "$1" "$2/f" "$2/d" >"$3" & until grep -qs REGISTERED "$3"; do sleep 0.01; done' \
        sh "$PROGRAMS/keep" "$TMPDIR" "$OUT" 2>"$ERR" && fail "it has not finalized"
    [ ! -e "$TMPDIR/f" ] && [ ! -e "$TMPDIR/d" ] || fail "what was to be removed stayed"
}

in_a_launcher_that_is_killed() { # which was itself a rank: the other one lets its janitor finish
    mkdir "$TMPDIR/d"
    (cd "$TMPDIR/d" && seq 5000 | xargs touch)
    pr -n 1 bash -c 'unset ${!PMIX_*} ${!TENON_*}
        "$1" -n 2 "$2" "$3/f" "$3/d" >"$4" &
        until [ "$(grep -cs REGISTERED "$4")" = 2 ]; do sleep 0.01; done
        kill -9 $!' bash "$PMIXRUN" "$PROGRAMS/keep" "$TMPDIR" "$OUT" 2>"$ERR"
    [ ! -e "$TMPDIR/d" ] || fail "what was to be removed stayed"
}

ignored_across_targets() { # whatever the tree waits for, and what is to stay in it
    local of_file of_tree
    for of_file in "rank 0" job; do
        for of_tree in "rank 0" job; do
            mkdir "$TMPDIR/d"
            touch "$TMPDIR/d/kept" "$TMPDIR/d/f"
            # shellcheck disable=SC2086
            pr -n 2 sh -c '[ "$PMIX_RANK" = 0 ] || exec "$0" finalize; exec "$0" "$@"' "$PROGRAMS/cleanup" \
                $of_file ignore "$TMPDIR/d/kept" ask $of_tree tree "$TMPDIR/d" recursive ask finalize >"$OUT"
            [ -e "$TMPDIR/d/kept" ] || fail "$of_file wanted it ignored, and it was removed with $of_tree"
            [ ! -e "$TMPDIR/d/f" ] || fail "not removed: $of_file, $of_tree"
            rm -r "$TMPDIR/d"
        done
    done
}

behind_a_link() { # the last name is never followed; nor are links of others
    mkdir "$TMPDIR/real"
    ln -s real "$TMPDIR/link"
    pr -n 1 "$PROGRAMS/cleanup" file "$TMPDIR/link/a" remove "$TMPDIR/real/../link/./a" ask finalize >"$OUT"
    [ ! -e "$TMPDIR/real/a" ] || fail "not removed behind a link of ours"
    if [ "$(id -u)" = 0 ]; then
        chown -h 12345 "$TMPDIR/link"
        pr -n 1 "$PROGRAMS/cleanup" file "$TMPDIR/real/a" remove "$TMPDIR/link/a" refused finalize >"$OUT"
        [ -e "$TMPDIR/real/a" ] || fail "removed behind a link of another user"
        rm "$TMPDIR/real/a"
    fi
    rm "$TMPDIR/link"
    rmdir "$TMPDIR/real"
}

bad_requests() {
    : >"$TMPDIR/a"
    pr -n 1 "$PROGRAMS/cleanup" remove "$TMPDIR/a,relative" refused remove "$TMPDIR/a" ignore "$TMPDIR/a" \
        refused nspace nobody remove "$TMPDIR/a" refused tree / refused recursive ask finalize >"$OUT"
    lines 1 '^OK cleanup 0$' "$OUT"
    [ -e "$TMPDIR/a" ] || fail "what was refused was removed"
    rm "$TMPDIR/a"
}

files_of_others_stay() {
    is_root || skip "needs root"
    mkdir "$TMPDIR/d"
    : >"$TMPDIR/d/mine"
    : >"$TMPDIR/d/theirs"
    chown 12345:12345 "$TMPDIR/d/theirs"
    pr -n 1 "$PROGRAMS/cleanup" tree "$TMPDIR/d" remove "$TMPDIR/d/theirs" ask finalize >"$OUT"
    [ ! -e "$TMPDIR/d/mine" ] || fail "what was to be removed stayed"
    [ -e "$TMPDIR/d/theirs" ] || fail "somebody else's file was removed"
    rm -r "$TMPDIR/d"
}

without_a_process_beside() { # by the component that needs none, which root's server does not take
    local who=()
    ! is_root || who=(setpriv --reuid=12345 --regid=12345 --clear-groups)
    [ ${#who[@]} = 0 ] || "${who[@]}" test -x "$PMIXRUN" || skip "the build folder is closed to others"
    PMIX_MCA_pcleanup=inproc run 60 "${who[@]}" "$PMIXRUN" -n 4 "$PROGRAMS/cleanup" file "$TMPDIR/f%r" \
        remove "$TMPDIR/f%r" ask finalize there "$TMPDIR/f%r" >"$OUT"
    lines 4 '^OK cleanup [0-3]$' "$OUT"
}

nobody_to_do_it() {
    : >"$TMPDIR/a"
    PMIX_MCA_pcleanup=^janitor,inproc pr -n 1 "$PROGRAMS/cleanup" remove "$TMPDIR/a" refused finalize >"$OUT"
    lines 1 '^OK cleanup 0$' "$OUT"
    rm "$TMPDIR/a"
}

if [ -f "$DEBIAN_INCLUDE/pmix.h" ] && [ -f "$DEBIAN_LIB" ]; then
    mkdir -p "$TMP/bin/clients"
    compile_debian clients/cleanup "$HERE/clients/cleanup.c" ||
        die "cannot compile clients/cleanup.c with Debian's headers"
fi
while read -r scenario; do
    t "$scenario" with_our_clients "$scenario"
    t "debian_${scenario}" with_debian_clients "$scenario"
done < <("$PROGRAMS/cleanup_host")
t pmixrun_own_files own_files
t pmixrun_files_of_the_job files_of_the_job
t pmixrun_killed_ranks killed_ranks
t pmixrun_script script
t pmixrun_in_the_background in_the_background
t pmixrun_in_a_launcher_that_is_killed in_a_launcher_that_is_killed
t pmixrun_ignored_across_targets ignored_across_targets
t pmixrun_behind_a_link behind_a_link
t pmixrun_bad_requests bad_requests
t pmixrun_files_of_others_stay files_of_others_stay
t pmixrun_without_a_process_beside without_a_process_beside
t pmixrun_nobody_to_do_it nobody_to_do_it
suite_end
