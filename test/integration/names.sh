#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# pmixrun under the names of other launchers: with the command line of PRRTE 3, as the prterun of Open MPI 5's
# mpirun, and as the prte that a process of Open MPI 5 without a launcher starts.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin names "$@"

NAMED=$TMP/bin/named
mkdir "$NAMED"
for name in prterun prte mpirun.tenon; do ln -s "$PMIXRUN" "$NAMED/$name"; done
PRTERUN=$NAMED/prterun
# prints COUNT REGEX ARGS...: expects success of prterun with ARGS, and so many such lines
prints() { well "$PRTERUN" "${@:3}" && lines "$1" "$2" "$OUT"; }

# ---- the command line; test/unit/tools has a row for each option -------------------------------

options() {
    local show='echo "$PWD $A $B $OMPI_MCA_c"'
    prints 1 '^/  1 v w$' -n 1 -x B=1 --mca c 'v w' --wd / sh -c "$show" : -n 2 -x A=2 --wdir /usr --gomca c x sh -c "$show"
    lines 2 '^/usr 2 1 x$' "$OUT"
    prints 2 '^\[[01]\]<stdout>:a$' -np 2 --output rank echo a
    prints 2 '^a$' --host localhost:2 echo a
    prints 1 '^\[.*,0\]\[.*:[0-9]+\]<stdout>:a$' -n 1 --output tag-detailed echo a
    mkdir "$TMPDIR/p"
    printf '#!/bin/sh\necho found' >"$TMPDIR/p/tool-of-path"
    chmod 755 "$TMPDIR/p/tool-of-path"
    prints 2 '^found$' --np 2 --path "$TMPDIR/p" tool-of-path
    prints 1 "^$TMPDIR/p/.*/jobs/" -n 1 --set-cwd-to-session-dir --tmpdir "$TMPDIR/p" pwd
    prints 0 . -n 2 --output "file=$TMPDIR/p/out:nocopy" echo a
    there "$TMPDIR/p/out.0" "$TMPDIR/p/out.1"
    rm -r "$TMPDIR/p"
    PRTE_MCA_rmaps_default_mapping_policy= prints "$(cores)" '^a$' echo a
}
cores() { "$PMIXRUN" --map-by ppr:1:core echo a | wc -l; }

lines_of_its_own() { # warnings, refusals, verbose, version
    prints 1 '^a$' -n 1 --launch-agent x --prtemca plm_base_verbose 5 echo a
    lines 1 '^prterun: --launch-agent has no effect: processes start without daemons$' "$ERR"
    lines 2 . "$ERR"
    prints 1 '^a$' -v -n 1 --display bind echo a
    lines 1 '^prterun: as pmixrun --verbose -n 1 --report-bindings.* echo a$' "$ERR"
    local row
    for row in '--dvm search true' '--map-by seq -n 1 true' '--nothing true' '-n 1 true : --map-by core true' '-n 0 true' '-n 1' \
        '-n 1 true : -x NO_SUCH_* true' '--keepalive 99 -n 1 true' '--singleton a.0 -n 1 true' '--report-pid /nowhere/x'; do
        # shellcheck disable=SC2086
        rc_of 2 run 20 "$PRTERUN" $row >"$OUT" 2>"$ERR"
        lines 1 '^prterun: .*; see prterun --help$' "$ERR"
        lines 1 . "$ERR"
    done
    rc_of 1 run 20 "$PRTERUN" -n 1 --host nowhere.example true 2>"$ERR"
    lines 1 'nowhere.example is not this node' "$ERR"
    rc_of 1 run 20 "$PRTERUN" -n 1 --report-pid /nowhere/x true 2>"$ERR"
    lines 1 '^prterun: cannot write the process number to /nowhere/x: No such file' "$ERR"
    well "$NAMED/mpirun.tenon" --version
    lines 1 '^mpirun.tenon of Tenon, .*$' "$OUT"
    well "$NAMED/mpirun.tenon" --help
    lines 1 '^  --np, -n, -c N$' "$OUT"
}

reports() { # the number of the process, and an address for tools
    start "$PRTERUN" -n 1 --report-pid "$TMPDIR/pid" --report-uri "$TMPDIR/uri" sleep 60
    until_true 20 test -s "$TMPDIR/uri" || fail "no address is reported"
    same "$PID" "$(cat "$TMPDIR/pid")" "number of the process"
    LD_LIBRARY_PATH=$LIBDIR run 60 "$CLIENT" tool uri "$(head -1 "$TMPDIR/uri")" >"$TMPDIR/tool" || fail "$(cat "$TMPDIR/tool")"
    lines 1 '^QUERY (PMIX_)?SUCCESS prterun-|^QUERY (PMIX_)?SUCCESS .+-1$' "$TMPDIR/tool"
    kill "$PID"
    await "$PID" 20
    same 143 "$RC" "exit status"
    rm -f "$TMPDIR"/{pid,uri,tool}
}

keepalive() { # the end of the starter ends the job
    mkfifo "$TMPDIR/alive"
    exec {STARTER}<>"$TMPDIR/alive"
    exec {WATCHED}<"$TMPDIR/alive"
    rm "$TMPDIR/alive"
    (exec {STARTER}>&- && in_case "$PRTERUN" -n 2 --keepalive "$WATCHED" sh -c "echo up; ! test -e /proc/self/fd/$WATCHED || echo inherited; exec sleep 60") \
        >"$OUT" 2>"$ERR" </dev/null &
    PID=$!
    await_lines 2 '^up$'
    lines 0 inherited "$OUT"
    exec {STARTER}>&-
    exec {WATCHED}<&-
    await "$PID" 20
    same 1 "$RC" "exit status"
    lines 1 '^prterun: job ended: the other end of descriptor [0-9]+ is closed$' "$ERR"
    lines 1 . "$ERR"
}

ends() { # ends STATUS REGEX ARGS...: of a job that fails
    rc_of "$1" run 30 "$PRTERUN" "${@:3}" >"$OUT" 2>"$ERR"
    lines 1 "$2" "$ERR"
}

# ---- Open MPI 5 --------------------------------------------------------------------------------

MPI=$TMP/bin/mpi
need_mpi() { # need_mpi LIBRARY
    has mpirun.openmpi && mpirun.openmpi --version | grep -q '(Open MPI) 5' || skip "Debian's openmpi-bin is not Open MPI 5"
    [ -x "$MPI" ] || skip "Debian's libopenmpi-dev is not installed"
    [ -z "$SANITIZE" ] || skip "a sanitized library cannot be loaded into Debian's own programs"
    export OMPI_PRTERUN=$PRTERUN LD_LIBRARY_PATH=$LIBDIR
    PROGRAM=$TMP/bin/$1/mpi # with a run path
}

# mpirun RANKS'_LIBRARY N "PROGRAM..." [CHILD:COUNT...]: programs of N ranks under Open MPI's mpirun, on our prterun
mpirun() {
    local p row n=0 runs=0
    need_mpi "$2"
    for p in $4; do
        well mpirun.openmpi -n "$3" "$PROGRAM" "$p" "$3"
        lines "$3" "^OK $p [0-9]+/$3\$" "$OUT"
        runs=$((runs + 1))
    done
    for row in "${@:5}"; do
        lines "${row#*:}" "^OK ${row%:*} " "$OUT"
        n=$((n + ${row#*:}))
    done
    lines 0 '^prterun' "$ERR"
    used $runs prterun "$OUR_LIB" 0 'mpirun*' "$OUR_LIB" $((runs * $3 + n)) mpi "$(library "$2")"
}

mpirun_of_its_own() { # its version, its own options, and the status of MPI_Abort
    need_mpi ours
    well mpirun.openmpi --version
    lines 1 '^mpirun.openmpi \(Open MPI\) 5\.' "$OUT"
    well mpirun.openmpi --map-by core:oversubscribe --bind-to none --mca btl self,tcp --display-comm --tag-output -np 2 "$PROGRAM" ring 2
    lines 2 '^\[1,[01]\]<stdout>:OK ring [01]/2$' "$OUT"
    rc_of 7 run 60 mpirun.openmpi -n 4 "$PROGRAM" abort >"$OUT" 2>"$ERR"
    lines 1 '^prterun: rank 1 .* called abort with status 7' "$ERR"
    lines 0 '^OK' "$OUT"
    rc_of 2 run 60 mpirun.openmpi --hostfile /nowhere "$PROGRAM" hello 2>"$ERR"
    lines 1 '^prterun: --np is needed with --hostfile' "$ERR"
}

# A process without a launcher starts prte for its children, and ends it.
alone() { # alone SERVER RANKS PROGRAM CHILDREN
    need_mpi "$2"
    PATH=$NAMED:$PATH well "$PROGRAM" "$3" 1
    lines 1 "^OK $3 0/1\$" "$OUT"
    lines "$4" '^OK spawned [01]/2$' "$OUT"
    lines 0 '^prte' "$ERR"
    used 1 prte "$OUR_LIB" $((1 + $4)) mpi "$(library "$2")"
    drop_rests_of_singleton
}

copy_mpi
ON_OURS="ours/debian ours/ours"

t options_of_another_launcher options
t lines_of_another_launcher lines_of_its_own
t address_and_number_are_reported reports
t end_of_the_starter_ends_the_job keepalive
t time_limit_ends_the_job ends 124 '^prterun: job ended after 1 seconds' -n 2 --runtime-options timeout=0:01 sleep 60
t status_of_a_failure ends 3 '^prterun: rank 1 .* exited with status 3' -n 2 sh -c 'if [ $PMIX_RANK = 1 ]; then exit 3; fi; sleep 60'
for n in 2 4; do
    across "$ON_OURS" "programs_of_${n}_ranks_under_mpirun_on_prterun" mpirun "$n" "hello ring coll windows accept"
done
across "$ON_OURS" sessions_under_mpirun_on_prterun mpirun 4 "sessions worlds"
across "$ON_OURS" spawn_under_mpirun_on_prterun mpirun 2 spawn spawned:2
across "$ON_OURS" spawn_of_several_programs_under_mpirun_on_prterun mpirun 2 multiple spawned:3
across "$ON_OURS" connection_by_a_published_name_under_mpirun_on_prterun mpirun 2 rendezvous serve:2 call:1
across "$ON_OURS" spawn_without_a_launcher_by_prte alone spawn 2
t mpirun_has_its_own_options mpirun_of_its_own
suite_end
