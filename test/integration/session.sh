#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Session directories with whole programs. Directories of a host reach the ranks. pmixrun makes directories, and
# removes them after the job. The harness checks that nothing is left.
. "$(dirname "$0")/lib.sh"
suite_begin session "$@"

# ---- directories of ranks ---------------------------------------------------------------------

made() { # made HEADERS
    [ "$1" = ours ] || use_debian
    well "$PMIXRUN" -n 3 "$(program "$1" client)" dirs make
    lines 3 '^OK dirs [0-2]$' "$OUT"
    lines 3 "^DIRS [0-2] $TMPDIR/pmix-server\\.[A-Za-z0-9]{6}/jobs/1 .*/jobs/1/[0-2]\$" "$OUT"
    used 1 pmixrun "$OUR_LIB" 3 client "$(library "$1")"
}

over_tcp() {
    well "$PMIXRUN" --mca ptl tcp -n 2 "$CLIENT" dirs make
    lines 2 '^OK dirs [01]$' "$OUT"
}

given_dirs() { # given_dirs HEADERS: the host's directories do not exist
    local -x HOST_DIRS=/nonexistent/session HOST_CLIENT_LIBRARY
    HOST_CLIENT_LIBRARY=$(folder "$1")
    [ "$1" = ours ] || use_debian
    well "$PROGRAMS/minihost" 2 "$(program "$1" client)" dirs given "$HOST_DIRS"
    lines 2 '^OK dirs [01]$' "$OUT"
    used 1 minihost "$OUR_LIB" 2 client "$(library "$1")"
}

no_dirs() {
    well "$PROGRAMS/minihost" 2 "$CLIENT" dirs none
    lines 2 '^OK dirs [01]$' "$OUT"
}

# The launcher is killed while its ranks have put files into their directories.
killed() { # killed PROGRAM...
    DIRS_STAY=1 start "$PMIXRUN" -n 3 "$@"
    await_lines 3 '^DIRS'
    kill -9 "$PID"
    await "$PID" 5
    sleep 1
    same '' "$(find "$TMPDIR" -mindepth 1)" "what is left after a second"
    same '' "$(leftover_pids)" "processes after a second"
}
killed_dirs() { # killed_dirs HEADERS
    [ "$1" = ours ] || use_debian
    killed "$(program "$1" client)" dirs make
}
killed_mpi() { # programs of Open MPI use the job's directories
    has mpicc.openmpi || skip "Debian's libopenmpi-dev is not installed"
    printf '%s\n' '#include <mpi.h>' '#include <stdio.h>' '#include <unistd.h>' \
        'int main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD);' \
        'printf("DIRS\n"); fflush(stdout); sleep(30); MPI_Finalize(); }' >"$TMP/stay.c"
    mpicc.openmpi -o "$TMP/bin/stay_mpi" "$TMP/stay.c" || fail "cannot compile"
    killed "$TMP/bin/stay_mpi"
}

# ---- the server's private folder ---------------------------------------------------------------

place() { # WANTED, then NAME=VALUE...: expects the private folder in WANTED
    local want=$1
    shift
    env "$@" "$PMIXRUN" -n 1 "$CLIENT" dirs make >"$OUT" 2>"$ERR" || fail "$(tail -1 "$ERR")"
    lines 1 "^DIRS 0 $want/pmix-server\\.[^/]*/jobs/1 " "$OUT"
}

precedence() {
    local t=$TMPDIR d
    for d in a b c d; do mkdir "$t/$d"; done
    unset TMPDIR
    place "$t/a" PMIX_SERVER_TMPDIR="$t/a" TMPDIR="$t/b" TEMP="$t/c" TMP="$t/d"
    place "$t/b" TMPDIR="$t/b" TEMP="$t/c" TMP="$t/d"
    place "$t/c" TEMP="$t/c" TMP="$t/d"
    place "$t/d" TMP="$t/d"
    place "$t/d" TMPDIR=relative TEMP= TMP="$t/d"
    place /tmp
    place /tmp TMPDIR="$t/absent"
    place "$t/a" PMIX_SERVER_TMPDIR="$t/absent" TMPDIR="$t/a"
    for d in a b c d; do rmdir "$t/$d"; done # only our folders were removed
    export TMPDIR=$t
}

need_strace() {
    has strace || skip "no strace"
    strace -o /dev/null -e trace=none true 2>/dev/null || skip "strace is not allowed here"
    [ -z "$SANITIZE" ] || skip "a sanitized program cannot be traced: leaks are looked for by ptrace"
}

# Counts the system calls of a client between its start and its end.
counted() {
    need_strace
    local calls=clone,clone3,futex,socket,connect,eventfd2,epoll_create1
    run 60 "$PMIXRUN" -n 1 strace -f -qq -o "$TMP/trace" -e trace=$calls "$CLIENT" dirs make >"$OUT" 2>"$ERR" ||
        fail "$(tail -1 "$ERR")"
    lines 1 '^OK dirs 0$' "$OUT"
    same "connect epoll_create1 eventfd2 socket" \
        "$(sed -E 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/' "$TMP/trace" | sort | tr '\n' ' ' | sed 's/ $//')" "calls, no thread"
}

# Expects one write for each of 64 full buffers of a file. Other calls begin and end the job.
counted_output() {
    need_strace
    run 60 strace -f -qq -o "$TMP/trace" -e trace=epoll_ctl "$PMIXRUN" -n 1 head -c 4M /dev/zero >"$OUT" 2>"$ERR" ||
        fail "$(tail -1 "$ERR")"
    same 4194304 "$(stat -c %s "$OUT")" "bytes"
    local n
    n=$(grep -c epoll_ctl "$TMP/trace")
    [ "$n" -lt 64 ] || fail "$n calls of epoll_ctl"
}

t output_that_is_taken_at_once_changes_no_watch counted_output
t a_client_connects_once_and_starts_no_thread counted
t ranks_get_directories_from_pmixrun made ours
t ranks_with_debians_library_get_them_too made debian
t directories_of_a_host_reach_the_ranks_there_or_not given_dirs ours
t directories_that_are_not_there_do_not_harm_debians_clients given_dirs debian
t without_directories_the_ranks_find_none no_dirs
t without_a_faster_transport_they_are_made_too over_tcp
t a_killed_launcher_leaves_no_directory killed_dirs ours
t nor_under_debians_clients killed_dirs debian
t nor_under_open_mpis_programs killed_mpi
t the_private_folder_is_below_the_one_in_the_environment precedence
suite_end
