#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Processes that were not launched: the library starts a host beside the process, which ends with it.
. "$(dirname "$0")/lib.sh"
suite_begin singleton "$@"

export PMIX_MCA_client_singleton_program=$PMIXRUN

hosts() { # prints the processes of this case that run pmixrun
    local pid
    for pid in $(leftover_pids); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != pmixrun ] || echo "$pid"
    done
}
n_hosts() { same "$1" "$(hosts | wc -l)" "number of hosts"; }

# begin SCENE: starts the scene, whose input is the descriptor SINGLE_FD, and waits for its line READY
begin() {
    mkfifo "$TMPDIR/in"
    exec {SINGLE_FD}<>"$TMPDIR/in"
    IN=$TMPDIR/in start "$CLIENT" single "$1"
    await_lines 1 '^READY$'
    rm "$TMPDIR/in"
}
finish() { # ends the scene by a byte of input
    echo >&"$SINGLE_FD"
    await "$PID" 20
    same 0 "$RC" "exit status: $(tail -1 "$ERR")"
    lines 1 '^OK single 0$' "$OUT"
    same '' "$(hosts)" "hosts after PMIx_Finalize"
}

# ---- what it can do ---------------------------------------------------------------------------

parent() { # parent HEADERS: of the children
    local -x CHILD_PROGRAM='' CHILD_LIBRARY
    [ "$1" = ours ] || use_debian
    CHILD_PROGRAM=$(program "$1" client)
    CHILD_LIBRARY=$(folder "$1")
    LD_LIBRARY_PATH=$LIBDIR well "$CLIENT" single parent
    lines 2 '^OFFSPRING [01]$' "$OUT"
    lines 1 '^OK single 0$' "$OUT"
    same '' "$(cat "$ERR")" "messages"
    same '' "$(hosts)" "hosts after PMIx_Finalize"
}

connected() { # parent and children connect, fence and exchange data
    STRICT=1 well "$CLIENT" spawn 2
    lines 1 '^OK spawn 0$' "$OUT"
    lines 2 '^OK child [01]$' "$OUT"
}

many_threads() {
    begin threads
    n_hosts 1
    finish
}

without_waiting() {
    well "$CLIENT" single later
    lines 1 '^logged by the host$' "$ERR"
}

no_need() {
    begin alone
    n_hosts 0
    finish
}

by_tools() { # by_tools HEADERS
    [ "$1" = ours ] || use_debian
    begin job
    LD_LIBRARY_PATH=$(folder "$1") run 60 "$(program "$1" client)" tool any >"$TMPDIR/tool" 2>&1 ||
        fail "$(cat "$TMPDIR/tool")"
    lines 1 '^QUERY (PMIX_)?SUCCESS .+-1$' "$TMPDIR/tool"
    rm "$TMPDIR/tool"
    finish
}

in_python() { # the binding of OpenPMIx, on this library
    [ -z "$SANITIZE" ] || skip "python3 does not load the sanitizer's library first"
    /usr/bin/python3 -c 'import pmix' 2>/dev/null || skip "Debian's python3-pmix is not installed"
    LD_LIBRARY_PATH=$LIBDIR well /usr/bin/python3 "$HERE/singleton.py"
    lines 1 '^CHILD$' "$OUT"
    lines 1 '^OK$' "$OUT"
}

# ---- its end ----------------------------------------------------------------------------------

ends_with_job() { # PMIx_Finalize ends a job that runs
    begin job
    await_lines 1 '^STAYS$'
    finish
}

killed() { # killed SCENE
    begin "$1"
    await_lines 1 '^STAYS$'
    n_hosts 1
    kill -9 "$PID"
    await "$PID" 5
    until_true 5 has_no_host || fail "the host lives on"
    [ "$1" != forks ] || kill -9 "$(leftover_pids)"
}
has_no_host() { [ -z "$(hosts)" ]; }

killed_host() { # the process lives on without its host
    begin job
    kill -9 "$(hosts)"
    finish
}

# ---- not started ------------------------------------------------------------------------------

# refused LINE NAME=VALUE: expects PMIX_ERR_UNREACH, and one line of the log; '' for none
refused() {

    run 60 env "$2" "$CLIENT" single refused >"$OUT" 2>"$ERR" || fail "exit status $?: $(tail -1 "$ERR")"
    lines "$([ -n "$1" ] && echo 1 || echo 0)" '' "$ERR"
    [ -z "$1" ] || lines 1 "cannot start a host for this singleton: $1" "$ERR"
}

bad_options() { # each mistake of the command line is one line
    local row
    for row in '--singleton a.0' '--singleton a.0 --keepalive 4' \
        '--singleton a --keepalive 4 --report-uri 5' '--singleton a.x --keepalive 4 --report-uri 5' \
        '--singleton .0 --keepalive 4 --report-uri 5' '--singleton a.0 --keepalive 4 --report-uri 5 true' \
        '--singleton a.0 --keepalive 4 --report-uri 5 -n 2' '--singleton a.0 --keepalive x --report-uri 5' \
        '--singleton a.0 --keepalive 99 --report-uri 98'; do
        # shellcheck disable=SC2086
        rc_of 2 run 20 "$PMIXRUN" $row >"$OUT" 2>"$ERR"
        lines 1 '^pmixrun: .*; see pmixrun --help$' "$ERR"
    done
}

P=PMIX_MCA_client_singleton
t spawns_publishes_and_looks_up parent ours
t children_of_debian parent debian
t connects_with_its_children connected
t many_threads_start_one_host many_threads
t calls_without_waiting without_waiting
t calls_without_need_start_no_host no_need
t tools_find_it by_tools ours
t tools_of_debian_find_it by_tools debian
t python in_python
t finalize_ends_its_job ends_with_job
t kill_leaves_nothing killed job
t kill_beside_a_forked_child killed forks
t a_killed_host killed_host
t switched_off refused '' ${P}_host=false
t no_program refused 'cannot execute /nonexistent/pmixrun: .*No such file or directory' \
    ${P}_program=/nonexistent/pmixrun
t a_program_that_ends refused '/.*/true has ended without an address' ${P}_program=/bin/true
t a_relative_program refused 'client_singleton_program: "pmixrun": expected an absolute path' ${P}_program=pmixrun
t bad_options bad_options
suite_end
