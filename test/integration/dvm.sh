#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A server that stays: prte or pmixrun --daemonize holds the node, prun submits jobs, pterm ends the server.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin dvm "$@"
unset PRTE_MCA_rmaps_default_mapping_policy # oversubscribes

NAMED=$TMP/bin/named
mkdir "$NAMED"
for name in prterun prte prun pterm; do ln -s "$PMIXRUN" "$NAMED/$name"; done
PRUN=$NAMED/prun
PTERM=$NAMED/pterm

# Starts a daemon with two slots. Its pid is in DAEMON.
serve() {
    cd "$TMPDIR"
    well "$NAMED/prte" --daemonize --host "x:${SLOTS:-2}" --report-pid "$TMPDIR/pid" --report-uri "$TMPDIR/uri" "$@"
    DAEMON=$(cat "$TMPDIR/pid")
    kill -0 "$DAEMON" || fail "no daemon"
}
ends() { # of the daemon by pterm: the harness looks for leftovers
    well "$PTERM" "$@"
    ! kill -0 "$DAEMON" 2>/dev/null || [ "$(state "$DAEMON")" = Z ] || fail "the daemon runs after pterm"
    rm -f "$TMPDIR"/{pid,uri,go}
}
state() { sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null || echo gone; }
runs() { well "$PRUN" "${@:3}" && lines "$1" "$2" "$OUT"; } # runs COUNT REGEX ARGS...
# refused STATUS REGEX PROGRAM ARGS...: expects this status and one such line
refused() {
    rc_of "$1" run 30 "${@:3}" >"$OUT" 2>"$ERR"
    lines 1 "$2" "$ERR"
    lines 1 . "$ERR"
}

jobs() { # output, input, environment, folder, status, and lines about failures
    serve
    runs 2 "^[01] $TMPDIR x\$" -n 2 -x A=x sh -c 'echo $PMIX_RANK $PWD $A'
    [ ! -s "$ERR" ] || fail "$(head -1 "$ERR")"
    runs 1 '^/usr$' -n 1 --wdir /usr pwd
    B=mine runs 1 '^mine$' -n 1 sh -c 'echo $B'
    echo line | (IN=/dev/stdin in_case timeout 20 "$PRUN" -n 1 cat) >"$OUT" || fail "cat"
    lines 1 '^line$' "$OUT"
    { yes || true; } 2>/dev/null | (in_case timeout 20 "$PRUN" -n 1 true) 2>"$ERR" || fail "input that nobody reads"
    [ ! -s "$ERR" ] || fail "$(head -1 "$ERR")"
    runs 2 '^\[[^]]*,[01]\]<stdout>: *a$|^\[.*[01]\].*a$' -n 2 --output tag echo a
    runs 1 '^1$' -n 1 echo 1 : -n 1 sh -c 'echo two >&2'
    lines 1 '^two$' "$ERR"
    runs 0 . -n 1 --output dir=out:nocopy echo a
    [ "$(find "$TMPDIR/out" -name stdout -exec cat {} +)" = a ] || fail "no file of output"
    rm -r "$TMPDIR/out"
    runs 1 '^map of job tenon-dvm-' -n 2 --map-by core:oversubscribe --display-map echo a
    lines 2 '^a$' "$OUT"
    runs 1 '^a$' -n 1 --report-bindings echo a
    lines 1 '^bindings of job tenon-dvm-' "$ERR"
    refused 3 '^prun: rank 1 .* exited with status 3$' "$PRUN" -n 2 sh -c '[ $PMIX_RANK = 0 ] || exit 3'
    refused 137 '^prun: rank 0 .* killed by signal 9' "$PRUN" -n 1 sh -c 'kill -9 $$'
    refused 127 '^prun: cannot start the job: ' "$PRUN" -n 1 no-such-program
    refused 126 '^prun: cannot start the job: ' "$PRUN" -n 1 /
    refused 124 '^prun: job ended after 1 seconds' "$PRUN" --timeout 1 -n 1 sleep 60
    ends
}

finds() { # each way to name the server
    serve
    runs 1 '^\[.*0\].*: *a$' --dvm-uri "file:$TMPDIR/uri" -n 1 --output tag echo a
    runs 1 '^\[.*0\].*: *a$' --dvm-uri "$(head -1 "$TMPDIR/uri")" -n 1 --output tag echo a
    runs 1 . --pid "$DAEMON" -n 1 echo a
    runs 1 . --namespace "tenon-dvm-$(id -u)" -n 1 echo a
    well "$NAMED/prterun" --dvm-uri "file:$TMPDIR/uri" -n 1 echo a
    well "$PMIXRUN" --submit -n 1 echo a
    refused 2 '^pmixrun: --dvm-name tenon-dvm-[0-9]*: the server with this name runs' "$PMIXRUN" --daemonize --dvm-name "tenon-dvm-$(id -u)"
    # A second one of the same user is found by its address and its number.
    local first=$DAEMON
    mv "$TMPDIR/uri" "$TMPDIR/first"
    serve
    runs 1 "^$DAEMON\$" --pid "$DAEMON" -n 1 sh -c 'ps -o ppid= $$ | tr -d " "'
    runs 1 "^$first\$" -n 1 sh -c 'ps -o ppid= $$ | tr -d " "'
    ends --pid "$DAEMON"
    DAEMON=$first
    mv "$TMPDIR/first" "$TMPDIR/uri"
    ends --dvm-uri "file:$TMPDIR/uri"
    rc_of 1 run 30 "$PRUN" -n 1 true 2>"$ERR"
    lines 1 '^prun: cannot connect to the server: ' "$ERR"
}

foreground() { # a server with a line for scripts; ends by a signal, or by pterm
    start "$NAMED/prte" --report-pid "$TMPDIR/pid"
    await_lines 1 '^DVM ready$'
    runs 1 a -n 1 echo a
    kill "$PID"
    await "$PID" 20
    same 143 "$RC" "exit status"
    start "$PMIXRUN" --serve --slots 1 --no-ready-msg
    until_true 20 test -e "$TMPDIR/pmix.$(uname -n).tenon-dvm-$(id -u)" || fail "no server"
    until_true 20 run 20 "$PRUN" -n 1 true
    [ ! -s "$OUT" ] || fail "$(cat "$OUT")"
    DAEMON=$PID
    well "$PTERM"
    await "$PID" 20
    same 0 "$RC" "exit status"
    rm -f "$TMPDIR/pid"
    refused 2 '^prte: --hostfile is not supported' "$NAMED/prte" --hostfile f
    refused 2 '^pmixrun: a server that stays goes without' "$PMIXRUN" --serve --wdir /
    refused 2 '^pmixrun: --no-wait needs --submit' "$PMIXRUN" --no-wait true
    refused 2 '^pmixrun: --submit contradicts' "$PMIXRUN" --serve --submit true
    refused 2 '^prun: -x with a pattern is not supported' "$PRUN" -x 'A*' -n 1 true
    refused 2 '^pterm: --terminate runs no program' "$PTERM" true
}

signals() { # of prun go to its job; a lost submitter ends its job, and no other
    local other
    serve
    start "$PRUN" -n 1 sh -c 'trap "echo usr" USR1; echo up; while :; do sleep 0.05; done'
    await_lines 1 '^up$'
    kill -USR1 "$PID"
    await_lines 1 '^usr$'
    kill -INT "$PID"
    await "$PID" 20
    same 130 "$RC" "exit status"
    OUT=$TMPDIR/other start "$PRUN" -n 1 sh -c 'echo up; while ! test -e go; do sleep 0.05; done; echo done'
    other=$PID
    await_lines 1 '^up$' "$TMPDIR/other"
    start "$PRUN" -n 1 sh -c 'echo $$; exec sleep 300'
    await_lines 1 '^[0-9]+$'
    kill -9 "$PID"
    await "$PID" 20
    until_true 20 is_gone "$(cat "$OUT")" || fail "the job of a killed submitter runs"
    runs 1 a -n 1 echo a # its slot is free
    touch "$TMPDIR/go"
    await "$other" 20
    same 0 "$RC" "exit status of the other"
    lines 1 '^done$' "$TMPDIR/other"
    rm "$TMPDIR/other"
    ends
}
is_gone() { [ ! -e "/proc/$1" ]; }

orphans() { # a process that outlives its job ends with the job, not with the server
    serve
    runs 1 '^[0-9]+$' -n 1 sh -c 'sleep 300 >/dev/null 2>&1 & echo $!'
    until_true 20 is_gone "$(cat "$OUT")" || fail "an orphan of an ended job runs"
    ends
}

queue() { # first come, first served; none waits that must not; what waits ends with its submitter
    serve
    start "$PRUN" -n 2 sh -c 'echo up; while ! test -e go; do sleep 0.05; done'
    local all=$PID waits
    await_lines 2 '^up$'
    refused 1 '^prun: cannot start the job: all slots are taken$' "$PRUN" --no-wait -n 1 true
    refused 1 '^prun: cannot start the job: it needs more than the server has$' "$PRUN" -n 3 true
    refused 124 '^prun: job ended after 1 seconds' "$PRUN" --timeout 1 -n 1 sh -c 'echo late >late'
    refused 1 '^prun: cannot start the job: TIMEOUT' "$PRUN" --spawn-timeout 1 -n 1 true
    OUT=$TMPDIR/waits start "$PRUN" -n 2 echo waited
    waits=$PID
    OUT=$TMPDIR/lost start "$PRUN" -n 1 sh -c 'echo late >late'
    sleep 0.2
    kill -9 "$PID"
    await "$PID" 20
    [ ! -s "$TMPDIR/waits" ] || fail "a job runs without slots"
    touch "$TMPDIR/go"
    await "$waits" 20
    same 0 "$RC" "exit status of the job that waited"
    lines 2 '^waited$' "$TMPDIR/waits"
    await "$all" 20
    runs 1 a --no-wait -n 1 echo a
    gone "$TMPDIR/late"
    rm -f "$TMPDIR"/{waits,lost}
    ends
}

parallel() { # many submitters: each has the output of its job alone
    local n i pids=()
    n=$(times 12 200)
    serve
    for i in $(seq "$n"); do
        (in_case "$PRUN" -n 1 sh -c "echo $i; echo $i >&2; exit $((i % 3))") >"$TMPDIR/out.$i" 2>"$TMPDIR/err.$i" </dev/null &
        pids+=($!)
    done
    for i in $(seq "$n"); do
        await "${pids[i - 1]}" 60
        same $((i % 3)) "$RC" "exit status of job $i"
        same "$i" "$(cat "$TMPDIR/out.$i")" "output of job $i"
        lines 1 "^$i\$" "$TMPDIR/err.$i"
        rm "$TMPDIR/out.$i" "$TMPDIR/err.$i"
    done
    ends
}

lost_server() { # a killed daemon: its jobs and submitters end
    serve
    start "$PRUN" -n 2 sh -c 'echo up; exec sleep 300'
    await_lines 2 '^up$'
    kill -9 "$DAEMON"
    await "$PID" 20
    same 1 "$RC" "exit status"
    lines 1 '^prun: the connection to the server is lost$' "$ERR"
    rm -f "$TMPDIR"/{pid,uri}
    until_true 20 nothing_but_bin || fail "$(ls -A "$TMPDIR")"
    refused_to_connect
}
nothing_but_bin() { [ -z "$(ls -A "$TMPDIR")" ]; }
refused_to_connect() {
    rc_of 1 run 30 "$PRUN" -n 1 true 2>"$ERR"
    lines 1 '^prun: cannot connect to the server: ' "$ERR"
}

users() { # another user cannot use the server, nor end it
    need_other
    serve
    chmod 755 "$TMP/bin" "$NAMED" "$TMPDIR"
    chmod 644 "$TMPDIR/uri"
    rc_of 1 run 30 "${OTHER[@]}" "$PRUN" --dvm-uri "file:$TMPDIR/uri" -n 1 true 2>"$ERR"
    rc_of 1 run 30 "${OTHER[@]}" "$PRUN" --dvm-uri "$(head -1 "$TMPDIR/uri")" -n 1 true 2>"$ERR"
    rc_of 1 run 30 "${OTHER[@]}" "$PTERM" --dvm-uri "$(head -1 "$TMPDIR/uri")" 2>"$ERR"
    runs 1 a -n 1 echo a
    ends
}

python() { # jobs by the tool interface of the Python binding
    /usr/bin/python3 -c 'import pmix' 2>/dev/null || skip "Debian's python3-pmix is not installed"
    [ -z "$SANITIZE" ] || skip "a sanitized library cannot be loaded into Python"
    serve
    PYTHONPATH=$(find /usr/lib/python3/dist-packages -maxdepth 1 -name 'pypmix-*.egg' 2>/dev/null | head -1) \
        LD_LIBRARY_PATH=$(folder "$1") well /usr/bin/python3 "$HERE/binding.py" submit "$DAEMON" 3 "$TMPDIR/made"
    lines 1 '^OK submit 3$' "$OUT"
    touch "$TMPDIR/made"
    until_true 20 has_lines 3 . "$TMPDIR/made" || fail "not all jobs have run"
    rm -f "$TMPDIR/made"
    ends
}

costs() { # of a short job: no copy of the server's memory, and no file
    local before n
    serve
    n=$(times 20 200)
    for i in 1 2 3; do well "$PRUN" -n 1 true; done
    before=$(faults)
    for i in $(seq "$n"); do well "$PRUN" -n 1 true; done
    [ -n "$SANITIZE" ] || [ $((($(faults) - before) / n)) -le 100 ] ||
        fail "$((($(faults) - before) / n)) page faults of the server for each job"
    runs 1 '^none$' -n 1 sh -c 'find "$PMIX_SERVER_TMPDIR"/pmix-server.* -path "*/jobs" | grep . || echo none'
    # Folders are there for processes that get the names.
    runs 2 '^OK dirs [01]$' -n 2 "$CLIENT" dirs make
    runs 1 "^$TMPDIR/pmix-server\\.[^/]*/jobs/[0-9]+\$" -n 1 --set-cwd-to-session-dir pwd
    ends
}
faults() { cut -d' ' -f10 "/proc/$DAEMON/stat"; }

t jobs_of_a_server_that_stays jobs
t cost_of_a_job costs
t each_way_to_name_the_server finds
t server_in_the_foreground foreground
t signals_and_lost_submitters signals
t orphans_end_with_their_job orphans
t jobs_wait_for_slots queue
t submitters_in_parallel parallel
t lost_server lost_server
t other_users_are_refused users
t jobs_submitted_in_python python ours
suite_end
