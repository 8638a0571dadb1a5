#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Registered clean-up with real processes: the scenarios of host/scenario_cleanup.c, with clients of our library, or
# of Debian's by TCP; and programs under pmixrun.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin cleanup "$@"

# ---- a host of our own -------------------------------------------------------------------------

play() { # play HEADERS SCENARIO
    [ "$1" = ours ] || use_debian
    mkdir "$TMPDIR/work"
    HOST_CLIENT_LIBRARY=$(folder "$1") CLEANUP_DIR=$TMPDIR/work \
        well "$PROGRAMS/scenario" "$2" "$(program "$1" client)"
    lines 1 "^OK $2\$" "$OUT"
    rmdir "$TMPDIR/work" # all else is left behind, and found
}

# ---- pmixrun ------------------------------------------------------------------------------------

# Runs a case with N ranks of the client "cleanup", with the given orders; "@" is TMPDIR/. Expects that all registered
# files are gone.
c() { # c N ORDER...
    local n=$1
    shift
    well "${AS[@]}" "$PMIXRUN" -n "$n" "$CLIENT" cleanup "${@//@/$TMPDIR/}"
    lines "$n" '^OK cleanup [0-3]$' "$OUT"
}
AS=()

of_the_job() {
    : >"$TMPDIR/shared"
    c 4 job remove @shared ask finalize there @shared
}

killed_ranks() { # the end of the first rank ends the other rank at any point
    local d=$TMPDIR/d%r
    rc_of 137 run 60 "$PMIXRUN" -n 2 "$CLIENT" cleanup tree "$d" ask dir "$d" file "$d/x" kill 2>"$ERR"
}

script() { # registered files stay until all processes of the rank have ended
    well "$PMIXRUN" -n 1 sh -c "$CLIENT cleanup file $TMPDIR/a remove $TMPDIR/a ask finalize &&
        test -e $TMPDIR/a &&
        $CLIENT cleanup file $TMPDIR/b remove $TMPDIR/b ask finalize && test -e $TMPDIR/a"
    lines 2 '^OK cleanup 0$' "$OUT"
}

in_the_background() { # background processes of a rank are ended before its files are removed
    mkdir "$TMPDIR/d"
    touch "$TMPDIR/d/f" "$TMPDIR/f"
    run 60 "$PMIXRUN" -n 1 sh -c \
        'setsid "$1" keep "$2/f" "$2/d" >"$3" & until grep -qs REGISTERED "$3"; do sleep 0.01; done' \
        sh "$CLIENT" "$TMPDIR" "$OUT" 2>"$ERR" && fail "it has not finalized"
    gone "$TMPDIR/f" "$TMPDIR/d"
}

in_a_launcher_that_is_killed() { # the killed launcher is a rank of another, which lets the janitor finish
    mkdir "$TMPDIR/d"
    (cd "$TMPDIR/d" && seq 5000 | xargs touch)
    run 60 "$PMIXRUN" -n 1 bash -c 'unset ${!PMIX_*} ${!TENON_*}
        "$1" -n 2 "$2" keep "$3/f" "$3/d" >"$4" &
        until [ "$(grep -cs REGISTERED "$4")" = 2 ]; do sleep 0.01; done
        kill -9 $!' bash "$PMIXRUN" "$CLIENT" "$TMPDIR" "$OUT" 2>"$ERR"
    gone "$TMPDIR/d"
}

ignored_across_targets() { # files to keep and trees, registered for a rank or for the job
    local of_file of_tree d=$TMPDIR/d
    for of_file in "rank 0" job; do
        for of_tree in "rank 0" job; do
            mkdir "$d"
            touch "$d/kept" "$d/f"
            # shellcheck disable=SC2086
            well "$PMIXRUN" -n 2 sh -c '[ "$PMIX_RANK" = 0 ] || exec "$0" cleanup finalize; exec "$0" cleanup "$@"' \
                "$CLIENT" $of_file ignore "$d/kept" ask $of_tree tree "$d" recursive ask finalize
            there "$d/kept"
            gone "$d/f"
            rm -r "$d"
        done
    done
}

behind_a_link() { # a link as the last name is not followed, nor are links of others
    mkdir "$TMPDIR/real"
    ln -s real "$TMPDIR/link"
    c 1 file @link/a remove @real/../link/./a ask finalize
    gone "$TMPDIR/real/a"
    if is_root; then
        chown -h 12345 "$TMPDIR/link"
        c 1 file @real/a remove @link/a refused finalize
        rm "$TMPDIR/real/a"
    fi
    rm "$TMPDIR/link"
    rmdir "$TMPDIR/real"
}

bad_requests() {
    : >"$TMPDIR/a"
    c 1 remove "$TMPDIR/a,relative" refused remove @a ignore @a refused nspace nobody remove @a refused tree / \
        refused recursive ask finalize
    rm "$TMPDIR/a"
}

files_of_others_stay() {
    is_root || skip "needs root"
    mkdir "$TMPDIR/d"
    touch "$TMPDIR/d/mine" "$TMPDIR/d/theirs"
    chown 12345:12345 "$TMPDIR/d/theirs"
    c 1 tree @d remove @d/theirs ask finalize
    gone "$TMPDIR/d/mine"
    there "$TMPDIR/d/theirs"
    rm -r "$TMPDIR/d"
}

without_a_process_beside() { # with pcleanup/inproc, which a server of root does not use
    ! is_root || need_other
    ! is_root || AS=("${OTHER[@]}")
    PMIX_MCA_pcleanup=inproc c 4 file @f%r remove @f%r ask finalize there @f%r
}

not_to_be_done() {
    : >"$TMPDIR/a"
    PMIX_MCA_pcleanup=^janitor,inproc c 1 remove @a refused finalize
    rm "$TMPDIR/a"
}

while read -r scenario; do
    t "$scenario" play ours "$scenario"
    t "debian_${scenario}" play debian "$scenario"
done < <("$PROGRAMS/scenario" cleanup)
t pmixrun_own_files c 4 file @f%r remove @f%r ask finalize there @f%r
t pmixrun_files_of_the_job of_the_job
t pmixrun_killed_ranks killed_ranks
t pmixrun_script script
t pmixrun_in_the_background in_the_background
t pmixrun_in_a_launcher_that_is_killed in_a_launcher_that_is_killed
t pmixrun_ignored_across_targets ignored_across_targets
t pmixrun_behind_a_link behind_a_link
t pmixrun_bad_requests bad_requests
t pmixrun_files_of_others_stay files_of_others_stay
t pmixrun_without_a_process_beside without_a_process_beside
t pmixrun_without_a_remover not_to_be_done
suite_end
