#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# pmixrun --timeline: the times of ranks with each library, its forms, its limits and its cost. Lines about ranks that
# miss a time limit.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin timeline "$@"
pr() { run 60 "$PMIXRUN" "$@"; }
# checked trace|page FILE ARGS...
checked() { python3 "$HERE/timeline.py" "$@" 2>"$ERR" || fail "$1: $(tail -1 "$ERR")"; }

# traced FILE ARGS...: runs pmixrun with ARGS into FILE, which must be a trace
traced() { well "$PMIXRUN" --timeline "$1" "${@:2}"; }

table() {
    well "$PMIXRUN" --timeline - -n 3 "$CLIENT" timed 300
    lines 1 '^job .*: ms since the start of pmixrun$' "$OUT"
    lines 1 '^ +rank +pid +fork +exec +init +connect +job info +ready +put +commit +finalize +exit$' "$OUT"
    lines 3 '^ +[0-2] +[0-9]+( +[0-9]+\.[0-9]{3}){10}$' "$OUT"
    lines 1 '^fence 1: 3 ranks, entered [0-9.]+ to [0-9.]+, left [0-9.]+, last rank 1$' "$OUT"
    lines 1 '^fence 2: 3 ranks' "$OUT"
    lines 1 '^slowest 1: rank 1 \(.*, pid [0-9]+\), [0-9]{3,}\.[0-9]+ ms to its first collective; longest: program' "$OUT"
    lines 3 '^slowest' "$OUT"
    same 3 "$(grep -n '^OK' "$OUT" | tail -1 | cut -d: -f1)" "the line of the last output of the job"
}

trace_of_ours() {
    traced "$TMPDIR/t.json" -n 4 "$CLIENT" timed 300
    checked trace "$TMPDIR/t.json" 4 own fences=2 last=1
    traced "$TMPDIR/t.json" -n 2 "$CLIENT" timed # a shorter file replaces the first
    checked trace "$TMPDIR/t.json" 2 own fences=2
    rm "$TMPDIR/t.json"
}

# OpenPMIx's client: its own times are not known
trace_of_debian() {
    use_debian
    traced "$TMPDIR/t.json" -n 3 -x "LD_LIBRARY_PATH=$(folder debian)" "$(program debian client)" timed 300
    checked trace "$TMPDIR/t.json" 3 foreign fences=2 last=1
    used 1 pmixrun "$OUR_LIB" 3 client "$(library debian)"
    rm "$TMPDIR/t.json"
}

trace_of_open_mpi() { # trace_of_open_mpi LIBRARY
    has mpicc.openmpi && has mpirun.openmpi || skip "Debian's libopenmpi-dev is not installed"
    need_debian_lib
    [ "$1" = debian ] || [ -z "$SANITIZE" ] || skip "a sanitized library cannot be loaded into Debian's own programs"
    [ -x "$TMP/bin/mpi" ] || copy_mpi
    traced "$TMPDIR/t.json" -n 2 -x "LD_LIBRARY_PATH=$(folder "$1")" "$TMP/bin/mpi" ring 2
    checked trace "$TMPDIR/t.json" 2 "$([ "$1" = ours ] && echo own || echo foreign)"
    grep -q '"name":"fence"' "$TMPDIR/t.json" || fail "MPI_Init has no fence"
    rm "$TMPDIR/t.json"
}

# Jobs that ranks spawn, and ranks that fail or do not know PMIx
other_jobs() {
    traced "$TMPDIR/t.json" -n 2 "$CLIENT" spawn 3
    checked trace "$TMPDIR/t.json" "$(grep -c '"thread_name"' "$TMPDIR/t.json")" \
        "jobs=$(grep -c '"process_name"' "$TMPDIR/t.json")"
    [ "$(grep -c '"process_name"' "$TMPDIR/t.json")" -gt 1 ] || fail "one job only"
    rc_of 3 pr --timeline "$TMPDIR/t.json" -n 2 sh -c 'test "$PMIX_RANK" = 0 && exit 3; sleep 30' 2>"$ERR"
    checked trace "$TMPDIR/t.json" 2
    rc_of 127 pr --timeline "$TMPDIR/t.json" nonexistent 2>"$ERR"
    checked trace "$TMPDIR/t.json" 0 jobs=0
    rm "$TMPDIR/t.json"
}

page() {
    well "$PMIXRUN" --timeline "$TMPDIR/t.html" -n 5 "$CLIENT" timed 300
    checked page "$TMPDIR/t.html" 5 1
    rm "$TMPDIR/t.html"
}

# browsed: a browser without a display draws the page. A script that this test adds counts the bars that it has drawn.
browsed() {
    local browser='' b
    for b in chromium chromium-headless-shell chromium-browser; do
        [ -n "$browser" ] || ! has "$b" || browser=$b
    done
    [ -n "$browser" ] || skip "needs chromium"
    well "$PMIXRUN" --timeline "$TMPDIR/t.html" -n 5 "$CLIENT" timed 300
    sed '/<\/body>/i <script>var seen = 0, names = {};\
for (const r of document.querySelectorAll("rect")) { const b = r.getBoundingClientRect(); seen += b.width > 0 \&\& b.height > 0; }\
for (const t of document.querySelectorAll("svg text")) if (t.getBoundingClientRect().width > 0) names[t.textContent] = 1;\
const p = document.createElement("pre"); p.id = "seen";\
p.textContent = "SEEN " + seen + " " + Object.keys(names).filter(n => n.startsWith("rank")).join(",");\
document.body.append(p);</script>' "$TMPDIR/t.html" >"$TMPDIR/seen.html"
    run 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$TMPDIR/profile" \
        --dump-dom "file://$TMPDIR/seen.html" >"$OUT" 2>"$ERR" || fail "$browser: exit status $?"
    same "rank 0,rank 1,rank 2,rank 3,rank 4" "$(sed -nE 's/.*SEEN [0-9]+ ([^<]*)<.*/\1/p' "$OUT")" "names that were drawn"
    same "$(grep -c '<rect' "$TMPDIR/t.html")" "$(sed -nE 's/.*>SEEN ([0-9]+) .*/\1/p' "$OUT")" "bars that were drawn"
    rm -rf "$TMPDIR"/*
}

# The limit of collectives of each rank, with the number of the others
limited() {
    well "$PMIXRUN" --mca server_timeline 1 --timeline "$TMPDIR/t.json" -n 2 "$CLIENT" timed
    checked trace "$TMPDIR/t.json" 2 own fences=1 dropped=1
    well "$PMIXRUN" --mca server_timeline 1 --timeline - -n 2 "$CLIENT" timed
    lines 2 '^rank [01]: 1 more collectives were not recorded$' "$OUT"
    rm "$TMPDIR/t.json"
}

refused() {
    local name
    for name in t t.xml .html ''; do
        rc_of 2 pr --timeline "$name" touch "$TMPDIR/started" 2>"$ERR"
        lines 1 "^pmixrun: --timeline $name: a name that ends in .json or .html, or - is needed" "$ERR"
    done
    rc_of 1 pr --timeline "$TMPDIR/none/t.json" touch "$TMPDIR/started" 2>"$ERR"
    lines 1 '^pmixrun: cannot open .*/none/t.json: No such file' "$ERR"
    rc_of 2 pr --timeline - --clean 2>"$ERR"
    gone "$TMPDIR/started"
    [ -w /dev/full ] || skip "needs /dev/full"
    rc_of 1 pr --timeline - "$CLIENT" timed 2>"$ERR" >/dev/full
    ln -s /dev/full "$TMPDIR/full.json"
    rc_of 1 pr --timeline "$TMPDIR/full.json" true 2>"$ERR"
    lines 1 '^pmixrun: cannot write .*full.json: No space left' "$ERR"
    rm "$TMPDIR/full.json"
}

# A rank sends as many messages with times as without, and makes as many system calls.
cost() {
    has strace || skip "needs strace"
    local how n
    : >"$TMPDIR/n"
    for how in "" "--timeline $TMPDIR/t.json"; do
        # shellcheck disable=SC2086
        well env TRACE="$TMPDIR/calls" "$PMIXRUN" $how -n 2 \
            sh -c 'exec strace -f -qq -o "$TRACE.$PMIX_RANK" "$@"' sh "$CLIENT" timed
        for n in sendmsg recvmsg; do
            echo "$n $(cat "$TMPDIR"/calls.* | grep -c " $n(")"
        done >"$TMPDIR/n.${#how}"
        # calls that do not depend on the speed of the other rank
        cat "$TMPDIR"/calls.0 | grep -vcE 'futex|epoll|poll|recv|resumed|read\(' >>"$TMPDIR/n.${#how}"
    done
    # shellcheck disable=SC2012
    print_line "# messages and calls: $(cat "$TMPDIR"/n.* | tr '\n' ' ')"
    same "$(grep send "$TMPDIR/n.0")" "$(grep -h send "$TMPDIR"/n.[1-9]*)" "messages of the ranks"
    n=$(($(tail -n 1 "$TMPDIR"/n.[1-9]*) - $(tail -n 1 "$TMPDIR/n.0")))
    [ $n -le 3 ] || fail "$n more system calls of a rank"
    well "$PMIXRUN" -n 1 sh -c 'test -z "$TENON_TIMELINE"'
    rm -f "$TMPDIR"/*
}

# A fence, and a connect, that one of many ranks never enters: the line names the rank. The client checks the time.
missing() { # missing KIND RANKS
    start "$PMIXRUN" -n "$2" "$CLIENT" missing 2 "$1"
    await "$PID" 60
    same 0 "$RC" "exit status"
    lines 1 "cannot $1 [^ ]*: time limit of 2 s: rank $(($2 - 1)) \(pid [0-9]+, last: get [0-9.]+ s ago\) on [^ ]+ has not entered\$" "$ERR"
    lines 1 . "$ERR"
}

# Of many missing ranks eight are named.
many_missing() {
    rc_of 99 pr -n 12 sh -c 'test "$PMIX_RANK" = 0 || exec sleep 5; exec "$0" timed_out' "$CLIENT" 2>"$ERR" >"$OUT"
    lines 1 'cannot fence [^ ]*: time limit of 1 s: ranks 1 \(pid [0-9]+, not connected\), .*, 8 \(pid [0-9]+, not connected\) and 3 more on [^ ]+ have not entered$' "$ERR"
}

t table_on_stdout table
t trace_of_our_clients trace_of_ours
t trace_of_clients_of_debian trace_of_debian
t trace_of_open_mpi_on_ours trace_of_open_mpi ours
t trace_of_open_mpi_on_debian trace_of_open_mpi debian
t other_jobs_and_failures other_jobs
t page_of_the_ranks page
t page_in_a_browser browsed
t collectives_beyond_the_limit_are_counted limited
t bad_names_and_files refused
t no_message_more cost
t missing_rank_of_64_is_named_at_a_fence missing fence 64
t missing_rank_is_named_at_a_connect missing connect 3
t eight_missing_ranks_are_named many_missing
suite_end
