#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Session directories, whole programs: what a host tells of reaches the ranks, what pmixrun makes is
# used and goes, and servers of several kinds are found by their files. After each case nothing may
# be left, which the harness looks for.
. "$(dirname "$0")/lib.sh"
suite_begin session "$@"

HOST=$(uname -n)
MINIHOST=$PROGRAMS/minihost
NO_LEAK_CHECK=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # of Debian's library
ours() { LD_LIBRARY_PATH=$LIBDIR "$@"; }

# ---- what ranks learn -------------------------------------------------------------------------

made() { # PROGRAM: with the library that it finds
    run 60 "$PMIXRUN" -n 3 "$1" make >"$OUT" 2>"$ERR" || fail "$(tail -1 "$ERR")"
    lines 3 '^OK dirs [0-2]$' "$OUT"
    lines 3 "^DIRS [0-2] $TMPDIR/pmix-server\\.[A-Za-z0-9]{6}/jobs/1 .*/jobs/1/[0-2]\$" "$OUT"
}
made_by_us() { made "$PROGRAMS/dirs"; }
made_for_debian() {
    need_debian_headers
    compile_debian dirs "$HERE/clients/dirs.c"
    export ASAN_OPTIONS=$NO_LEAK_CHECK
    made "$TMP/bin/dirs"
    used 1 pmixrun "$OUR_LIB" 3 dirs "$DEBIAN_LIB"
}

without_a_folder() { # nowhere to make any: no reason not to run
    run 60 "$PMIXRUN" --mca ptl tcp -n 2 "$PROGRAMS/dirs" "$1" >"$OUT" 2>"$ERR"
    lines 2 '^OK dirs [01]$' "$OUT"
}

told() { # there is nothing by that name
    HOST_DIRS=/nonexistent/session ours run 60 "$MINIHOST" 2 "$PROGRAMS/dirs" told /nonexistent/session \
        >"$OUT" 2>"$ERR" || fail "$(tail -1 "$ERR")"
    lines 2 '^OK dirs [01]$' "$OUT"
}
told_to_debian() {
    need_debian_headers
    compile_debian dirs "$HERE/clients/dirs.c"
    export ASAN_OPTIONS=$NO_LEAK_CHECK
    HOST_DIRS=/nonexistent/session run 60 "$MINIHOST" 2 "$TMP/bin/dirs" told /nonexistent/session \
        >"$OUT" 2>"$ERR" || fail "$(tail -1 "$ERR")"
    lines 2 '^OK dirs [01]$' "$OUT"
    used 1 minihost "$OUR_LIB" 2 dirs "$DEBIAN_LIB"
}
told_nothing() {
    ours run 60 "$MINIHOST" 2 "$PROGRAMS/dirs" none >"$OUT" 2>"$ERR" || fail "$(tail -1 "$ERR")"
    lines 2 '^OK dirs [01]$' "$OUT"
}

# The launcher is killed while its ranks have put files into their directories.
killed() {
    local pid
    OUT=$OUT DIRS_STAY=1 start "$PMIXRUN" -n 3 "$@" make
    pid=$PID
    until_true 20 eval '[ "$(grep -c "^DIRS" "$OUT")" = 3 ]' || fail "the ranks are not up: $(cat "$OUT" "$ERR")"
    kill -9 "$pid"
    await "$pid" 5
    sleep 1
    same '' "$(find "$TMPDIR" -mindepth 1)" "what is left after a second"
    same '' "$(leftover_pids)" "processes after a second"
}
killed_ours() { killed "$PROGRAMS/dirs"; }
killed_debian() {
    need_debian_headers
    compile_debian dirs "$HERE/clients/dirs.c"
    killed "$TMP/bin/dirs"
}
killed_mpi() { # Open MPI's programs put theirs where they are told to
    has mpicc.openmpi || skip "Debian's libopenmpi-dev is not installed"
    printf '%s\n' '#include <mpi.h>' '#include <stdio.h>' '#include <unistd.h>' \
        'int main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD);' \
        'printf("DIRS\n"); fflush(stdout); sleep(30); MPI_Finalize(); }' >"$TMP/stay.c"
    mpicc.openmpi -o "$TMP/bin/stay_mpi" "$TMP/stay.c" || fail "cannot compile"
    killed "$TMP/bin/stay_mpi"
}

# ---- where the server's own is -----------------------------------------------------------------

place() { # WANTED, then NAME=VALUE...: where the private folder is
    local want=$1
    shift
    env "$@" "$PMIXRUN" -n 1 "$PROGRAMS/dirs" make >"$OUT" 2>"$ERR" || fail "$(tail -1 "$ERR")"
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
    for d in a b c d; do rmdir "$t/$d"; done # only ours went
    export TMPDIR=$t
}

many_at_once() {
    local i pids=()
    for i in 1 2 3 4 5 6 7 8; do
        run 60 "$PMIXRUN" -n 2 "$PROGRAMS/dirs" make >"$OUT.$i" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || fail "one has failed"; done
    for i in 1 2 3 4 5 6 7 8; do lines 2 '^OK dirs' "$OUT.$i"; done
}

# ---- servers with files --------------------------------------------------------------------------

serve() { # NAME ATTRIBUTE...: its words come through the descriptor SERVER_FD
    SERVER_OUT=$TMP/log/$1.out
    mkfifo "$TMPDIR/$1.in"
    (LD_LIBRARY_PATH=$LIBDIR TOOL_HOST_JOBS=jobs-of-$1 in_case "$PROGRAMS/tool_host" "$@") \
        <"$TMPDIR/$1.in" >"$SERVER_OUT" 2>&1 &
    SERVER_PID=$!
    exec {SERVER_FD}>"$TMPDIR/$1.in"
    rm "$TMPDIR/$1.in"
    until_true 20 grep -q '^ready' "$SERVER_OUT" || fail "the server $1 is not ready: $(cat "$SERVER_OUT")"
}

end_server() {
    eval "exec $SERVER_FD>&-"
    await "$SERVER_PID" 20
    same 0 "$RC" "exit status of the server"
}

files() { # what there is but private folders
    find "$TMPDIR" -maxdepth 1 -name 'pmix*' ! -name 'pmix-server.*' -printf '%f %m\n' | sort
}

all_kinds() {
    local pid
    serve serving tool system session
    pid=$(sed -n 's/^ready.* \([0-9]*\)$/\1/p' "$SERVER_OUT")
    same "$(printf '%s 600\n' "pmix.$HOST.$pid" "pmix.$HOST.serving" "pmix.$HOST.tool" \
        "pmix.$HOST.tool.$pid" "pmix.$HOST.tool.serving" "pmix.sys.$HOST" | sort)" "$(files)" "files"
    end_server
}

second_system() {
    local rc=0
    serve first system
    ours run 20 "$PROGRAMS/tool_host" second system </dev/null >"$OUT" 2>"$ERR" || rc=$?
    [ $rc != 0 ] || fail "a second system server has started"
    lines 1 "pmix.sys.$HOST is that of a server that runs: pid [0-9]+ of uid $(id -u), first.0" "$ERR"
    same "$(printf '%s 600\n' "pmix.sys.$HOST")" "$(files)" "files"
    end_server
}

t ranks_get_directories_from_pmixrun made_by_us
t ranks_with_debians_library_get_them_too made_for_debian
t directories_of_a_host_are_told_there_or_not told
t directories_that_are_not_there_do_not_harm_debians_clients told_to_debian
t without_directories_nobody_is_told_of_any told_nothing
t without_a_faster_transport_they_are_made_too without_a_folder make
t a_killed_launcher_leaves_no_directory killed_ours
t nor_under_debians_clients killed_debian
t nor_under_open_mpis_programs killed_mpi
t the_private_folder_is_where_the_environment_says precedence
t servers_side_by_side_leave_nothing many_at_once
t a_server_has_the_files_of_all_it_is all_kinds
t a_second_system_server_does_not_start second_system
suite_end
