#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The example, ten times in a row, or a hundred times in the long form: no run hangs or leaves anything. Then
# jobs with a rank that is killed at some moment: each job ends soon, with a message, and leaves nothing.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin modex100 "$@"

RUNS=$(times 10 100)
KILLS=$(times 4 20)
RANKS=8
GRACE_S=8 # TERM, two seconds of grace, KILL, and a slow machine

consecutive_runs() { # consecutive_runs ARGS...
    local i r learnt
    for ((i = 1; i <= RUNS; i++)); do
        run 30 "$PMIXRUN" -n $RANKS "$@" "$MODEX" >"$OUT" 2>"$ERR" ||
            fail "run $i of $RUNS: exit status $? (124: it hung): $(tail -1 "$ERR")"
        for ((r = 0; r < RANKS; r++)); do
            learnt=$(grep -E "^rank $r of $RANKS " "$OUT" | grep -oE ' [0-7]=pid [0-9]+ on ' | wc -l)
            [ "$learnt" = $((RANKS - 1)) ] ||
                fail "run $i of $RUNS: rank $r has data of $learnt others"
        done
        [ ! -s "$ERR" ] || fail "run $i of $RUNS: $(head -1 "$ERR")"
        rm -f "$RECORD"/*
        nothing_left
    done
}

# Prints the children of all threads of a process.
children_of() { cat /proc/"$1"/task/*/children 2>/dev/null | tr "\n" " "; }
rank_of() { tr '\0' '\n' <"/proc/$1/environ" 2>/dev/null | sed -n 's/^PMIX_RANK=//p'; }

# Finds rank and pid of a rank that has started. A child between fork and exec has no rank yet.
some_rank() {
    local pids
    read -ra pids <<<"$(children_of "$1")"
    [ ${#pids[@]} -gt 0 ] || return 1
    VICTIM=${pids[RANDOM % ${#pids[@]}]}
    VICTIM_RANK=$(rank_of "$VICTIM")
    [ -n "$VICTIM_RANK" ]
}

one_kill() { # one_kill DELAY_MS
    start "$PMIXRUN" -n $RANKS "$CLIENT" stay spin
    sleep "$(printf '0.%03d' "$1")"
    until_true 10 some_rank "$PID" || fail "no rank starts"
    kill -9 "$VICTIM"
    await "$PID" $GRACE_S
    same 137 "$RC" "exit status after rank $VICTIM_RANK was killed $1 ms after the start"
    grep -Eq "rank $VICTIM_RANK\b.*\b$VICTIM\b.*(signal 9|SIGKILL|[Kk]illed)" "$ERR" ||
        fail "no line names rank $VICTIM_RANK, pid $VICTIM and signal 9"
    nothing_left
    rm -f "$RECORD"/*
}

killed_ranks() {
    local i
    for ((i = 0; i < KILLS; i++)); do one_kill $((RANDOM % 400)); done
}

t modex_runs_and_leaves_nothing consecutive_runs
RUNS=$(times 4 10)
t modex_over_tcp_runs_and_leaves_nothing consecutive_runs --mca ptl tcp
t killed_rank_ends_the_job killed_ranks
suite_end
