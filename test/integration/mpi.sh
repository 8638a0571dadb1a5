#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unmodified MPI programs, compiled by Debian's mpicc, in all four pairings of launcher and
# library; with 4 ranks, in the long form also 2 and 8. Each case checks the libpmix of all processes.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin mpi "$@"

MPI=$TMP/bin/mpi
MPI_MAJOR=$(mpirun.openmpi --version 2>/dev/null | sed -n 's/^mpirun.* (Open[^)]*) \([0-9]*\)\..*/\1/p')
MPI_MAJOR=${MPI_MAJOR:-0}
SIZES=4
[ "$(times 0 1)" = 0 ] || SIZES="2 4 8"

need_mpi() {
    has mpirun.openmpi || skip "Debian's openmpi-bin is not installed"
    [ -x "$MPI" ] || skip "Debian's libopenmpi-dev is not installed"
    need_debian_lib
    [ "$1" = debian ] || [ -z "$SANITIZE" ] ||
        skip "a sanitized library cannot be loaded into Debian's own programs"
}

# with SERVER RANKS LAUNCHER N: sets WITH to the command of N ranks, without the program's arguments, and WHO to the
# launcher's program. mpirun passes no LD_LIBRARY_PATH to processes that are spawned, so its program has a run path.
with() {
    need_mpi "$2"
    case $3 in
        pmixrun) WHO=pmixrun WITH=("$PMIXRUN" -n "$4" -x "LD_LIBRARY_PATH=$(folder "$2")" "$MPI") ;;
        mpirun)
            WHO='@(mpirun*|prterun)' WITH=(mpirun.openmpi -n "$4" "$TMP/bin/$2/mpi")
            export LD_LIBRARY_PATH
            LD_LIBRARY_PATH=$(folder "$1")
            ;;
    esac
}

programs() { # programs SERVER RANKS LAUNCHER N "PROGRAM..." [OPTION...]
    local server=$1 ranks=$2 n=$4 names=$5 p runs=0
    with "$@"
    shift 5
    for p in $names; do
        well "${WITH[0]}" "$@" "${WITH[@]:1}" "$p" "$n"
        lines "$n" "^OK $p [0-9]+/$n\$" "$OUT"
        runs=$((runs + 1))
    done
    used $runs "$WHO" "$(library "$server")" $((runs * n)) mpi "$(library "$ranks")"
}

# A process without a launcher. For children, MPI starts the daemon of its own launcher. The output of the children may be
# lost there, but the sum over parent and children needs each child.
alone() { # alone SERVER RANKS PROGRAM [CHILDREN]
    local daemon=() n=${4:-0}
    need_mpi "$2"
    well "$TMP/bin/$2/mpi" "$3" 1
    lines 1 "^OK $3 0/1\$" "$OUT"
    [ "$n" = 0 ] || daemon=(1 'prte*' "$(library "$1")")
    used "${daemon[@]}" $((1 + n)) mpi "$(library "$2")"
    drop_rests_of_singleton
}

# The processes register their folders for clean-up. The harness checks that they are removed.
killed() { # killed LIBRARY RANK|SERVER
    need_mpi "$1"
    local victim
    start "$PMIXRUN" -n 4 -x "LD_LIBRARY_PATH=$(folder "$1")" "$MPI" stay
    await_lines 4 '^UP'
    [ -n "$(find "$TMPDIR" /dev/shm -name '*ompi*' -o -name 'vader_segment*' -o -name 'sm_segment*')" ] ||
        fail "there is nothing that could be left"
    victim=$PID
    [ "$2" = SERVER ] || victim=$(sed -n 's/^UP 2 //p' "$OUT")
    kill -9 "$victim"
    await "$PID" 20
    same 137 "$RC" "exit status"
    until_true 1 eval '[ -z "$(leftovers)" ]' || fail "$(leftovers)"
}

preloaded() { # preloaded LIBRARY: from a copy, and with output in files
    local r
    need_mpi "$1"
    well "$PMIXRUN" -n 4 -x "LD_LIBRARY_PATH=$(folder "$1")" --preload \
        --tag-output --output-dir "$TMPDIR/o:nocopy" "$MPI" ring 4
    lines 0 . "$OUT"
    for r in 0 1 2 3; do
        lines 1 "^\[1,$r\]<stdout>:OK ring $r/4\$" "$TMPDIR"/o/*/rank.$r/stdout
    done
    used 1 pmixrun "$OUR_LIB" 4 mpi "$(library "$1")"
    rm -r "$TMPDIR/o"
}

# Each rank writes the input of rank 0, whole, line by line.
echoes() { # echoes LIBRARY
    local r
    need_mpi "$1"
    seq -f %029.0f "$(times 20000 200000)" >"$TMPDIR/in"
    for how in 0 all; do
        cat "$TMPDIR/in" | run 90 "$PMIXRUN" -n 4 --stdin $how --output rank -x "LD_LIBRARY_PATH=$(folder "$1")" \
            "$MPI" echo 4 >"$OUT" 2>"$ERR" || fail "exit status $?: $(tail -1 "$ERR")"
        for r in 0 1 2 3; do
            sed -n "s/^\[$r\]<stdout>://p" "$OUT" | grep -v '^OK' | cmp - "$TMPDIR/in" || fail "rank $r: other lines"
        done
        lines 4 '>:OK echo [0-3]/4$' "$OUT"
    done
    used 2 pmixrun "$OUR_LIB" 8 mpi "$(library "$1")"
    rm "$TMPDIR/in"
}

# Each line of both streams of each rank comes out whole, once and in order.
shouted() { # shouted LIBRARY
    local n f
    need_mpi "$1"
    n=$(times 20000 200000)
    well "$PMIXRUN" -n 4 -x "LD_LIBRARY_PATH=$(folder "$1")" "$MPI" shout 4 "$n"
    for f in "$OUT" "$ERR"; do
        # without /sys the hwloc of Open MPI prints a line
        grep -v -e '^OK shout' -e '^\[hwloc/linux\] failed to find sysfs' "$f" | awk -v n="$n" 'NF != 3 || $2 != seen[$1]++ || length($3) != 1 + $2 % 65 { print; exit }
            END { print NR == 4 * n ? "whole" : NR " lines" }' >"$TMPDIR/lines"
        same whole "$(cat "$TMPDIR/lines")" "lines of ${f##*.}"
    done
    lines 4 '^OK shout [0-3]/4$' "$OUT"
    used 1 pmixrun "$OUR_LIB" 4 mpi "$(library "$1")"
    rm "$TMPDIR/lines"
}

aborted() { # aborted SERVER RANKS LAUNCHER
    with "$@" 4
    rc_of 7 run 60 "${WITH[@]}" abort >"$OUT" 2>"$ERR"
    [ "$3" != pmixrun ] || lines 1 '^pmixrun: rank 1 .* called abort with status 7' "$ERR"
    lines 0 '^OK' "$OUT"
}

# The text of an MPI error always comes before the line about the end of its rank.
erroneous() { # erroneous LIBRARY
    local n
    need_mpi "$1"
    for n in $(seq "$(times 10 100)"); do
        run 60 "$PMIXRUN" -n 2 -x "LD_LIBRARY_PATH=$(folder "$1")" "$MPI" wrong >"$OUT" 2>"$ERR" && fail "exit status 0"
        lines 1 'MPI_ERR_RANK: invalid rank$' "$ERR"
        lines 1 '^pmixrun: rank 1 .* called abort with status 6' "$ERR"
        tail -1 "$ERR" | grep -q '^pmixrun: rank 1' || fail "run $n: text after the line about the end"
    done
}

# Open MPI gets the programming models of its process, and can show them.
modelled() { # modelled LIBRARY
    need_mpi "$1"
    start "$PMIXRUN" -n 2 -x "LD_LIBRARY_PATH=$(folder "$1")" -x OMPI_SHOW_MODEL_CALLBACK=1 "$MPI" model 2 "$TMPDIR/go"
    await_lines 2 'OMPI Model Callback Key: pmix.pgm.model Val OpenMP$' "$ERR"
    touch "$TMPDIR/go"
    await "$PID" 40
    same 0 "$RC" "exit status"
    lines 2 '^OK model [01]/2$' "$OUT"
    rm "$TMPDIR/go"
    used 1 pmixrun "$OUR_LIB" 2 mpi "$(library "$1")"
}

# Process sets of a session, and communicators, for which MPI constructs and destructs groups.
in_sessions() { # in_sessions SERVER RANKS LAUNCHER PROGRAM
    local n sizes="2 8"
    [ "$(times 0 1)" = 0 ] || sizes="2 3 8 16 32 64"
    [ "$MPI_MAJOR" -ge 5 ] || skip "Open MPI $MPI_MAJOR has no sessions"
    for n in $sizes; do
        programs "$1" "$2" "$3" "$n" "$4"
        rm -f "$RECORD"/*
    done
}

# Jobs that MPI starts, and their messages.
dynamic() { # dynamic SERVER RANKS LAUNCHER PROGRAM CHILD:COUNT...
    local row n=0
    with "$1" "$2" "$3" 2
    [ "$4$3" != multiplempirun ] || [ "$MPI_MAJOR" -lt 5 ] ||
        skip "fails without our library: prterun crashes at a spawn of several programs"
    well "${WITH[@]}" "$4" 2
    lines 2 "^OK $4 [01]/2\$" "$OUT"
    for row in "${@:5}"; do
        lines "${row#*:}" "^OK ${row%:*} " "$OUT"
        n=$((n + ${row#*:}))
    done
    used 1 "$WHO" "$(library "$1")" $((2 + n)) mpi "$(library "$2")"
}

# A failure of a job that MPI started ends the parents.
bereft() { # bereft SERVER RANKS LAUNCHER
    with "$@" 2
    rc_of 7 run 60 "${WITH[@]}" orphan >"$OUT" 2>"$ERR"
    lines 1 '^pmixrun: rank 1 of .* called abort with status 7' "$ERR"
    lines 0 '^OK' "$OUT"
    rc_of 137 run 60 "${WITH[@]}" widow >"$OUT" 2>"$ERR"
    lines 1 '^pmixrun: rank 1 of .* killed by signal 9' "$ERR"
    lines 0 '^OK' "$OUT"
}

# The transports of both sides: without the usock component only tcp is left, and by default our library prefers
# usock.
transports() {
    well "$PMIXRUN" -n 2 sh -c 'echo "URI $TENON_SERVER_URI"'
    lines 2 '^URI .*;tcp4://127\.0\.0\.1:[0-9]+;usock:///' "$OUT"
    well "$PMIXRUN" --mca ptl tcp -n 2 sh -c 'echo "URI $TENON_SERVER_URI"'
    lines 2 '^URI $' "$OUT"
}

# A process whose server is missing or dead goes on alone, or ends with a message.
serverless() {
    local contact
    need_mpi ours
    for contact in A=1 PMIX_SERVER_URI41='lone.0;tcp4://127.0.0.1:9'; do
        run 30 env "LD_LIBRARY_PATH=$LIBDIR" PMIX_NAMESPACE=lone PMIX_RANK=0 "$contact" "$MPI" hello >"$OUT" 2>"$ERR"
        case $? in
            0) lines 1 '^OK hello 0/1$' "$OUT" ;;
            124) fail "MPI_Init does not end with $contact" ;;
            *) [ -s "$ERR" ] || fail "MPI_Init fails without a message with $contact" ;;
        esac
    done
    rm -rf "$TMPDIR"/ompi.* # Open MPI 5 leaves the folder of a process without a launcher
}

# Compares the bindings of mpirun and pmixrun on a node with two packages.
placed() {
    local options n=0
    has mpirun.openmpi || skip "Debian's openmpi-bin is not installed"
    [ "$MPI_MAJOR" -lt 5 ] || skip "mpirun of Open MPI 5 shows maps in another form"
    export HWLOC_SYNTHETIC='package:2 numa:1 l3:1 core:4 pu:2'
    while read -r options; do
        # shellcheck disable=SC2086
        run 60 mpirun.openmpi --host "$(uname -n):16" --do-not-launch --display-map $options true >"$OUT" 2>&1 || true
        sed -nE 's/.*Process rank: ([0-9]+) Bound: .*:(\[.*)$/\1 \2/p' "$OUT" | sort -n >"$TMPDIR/theirs"
        # shellcheck disable=SC2086
        run 60 "$PMIXRUN" --display-map $options true >"$OUT" 2>"$ERR" || fail "$options: $(tail -1 "$ERR")"
        sed -nE 's/^rank ([0-9]+),.* (\[.*)$/\1 \2/p' "$OUT" | sort -n >"$TMPDIR/ours"
        [ -s "$TMPDIR/theirs" ] || fail "mpirun $options says nothing"
        same "$(cat "$TMPDIR/theirs")" "$(cat "$TMPDIR/ours")" "map of $options"
        n=$((n + 1))
    done <<'END'
-n 4 --map-by core --bind-to core
-n 5 --map-by socket --bind-to core
-n 3 --map-by numa --bind-to l3cache
-n 3 --map-by slot --bind-to core
-n 2 --bind-to core
-n 3 --bind-to core
-n 3 --map-by core --bind-to socket
-n 3 --map-by hwthread --bind-to hwthread
-n 4 --map-by slot:PE=2 --bind-to core
-n 3 --map-by socket:PE=3 --bind-to hwthread
-n 10 --map-by core --bind-to core:overload-allowed
-n 5 --map-by core --rank-by socket --bind-to core
-n 6 --map-by ppr:4:socket --rank-by socket --bind-to core
-n 3 --map-by socket --bind-to core true : -n 3
END
    same 14 "$n" "maps compared"
    rm "$TMPDIR"/{ours,theirs}
}

# The bindings of ranks that Open MPI itself finds.
bound() { # bound LIBRARY
    need_mpi "$1"
    need_cores 2
    [ "$MPI_MAJOR" -lt 5 ] || skip "ranks of Open MPI 5 do not report what they are bound to"
    well "$PMIXRUN" -n 2 --map-by core --bind-to core -x "LD_LIBRARY_PATH=$(folder "$1")" \
        -x OMPI_MCA_hwloc_base_report_bindings=1 "$MPI" coll 2
    lines 2 '^OK coll' "$OUT"
    lines 2 'MCW rank [01] bound to .*core [0-9]+' "$ERR"
    same 2 "$(sed -n 's/.*MCW rank [01] bound to //p' "$ERR" | sort -u | wc -l)" "cores"
}

copy_mpi
UNDER_PMIXRUN="ours/debian ours/ours"
UNDER_MPIRUN="ours/ours ours/debian debian/ours debian/debian"
is_wide || UNDER_MPIRUN="ours/debian debian/ours"
has mpirun.openmpi || UNDER_MPIRUN=
[ "$MPI_MAJOR" -lt 5 ] || UNDER_MPIRUN="debian/ours debian/debian" # it needs internals of OpenPMIx
NAMES="hello ring collectives=coll windows accept publish"
is_wide || NAMES="collectives=coll windows accept" # other cases have the others, too
ALONE="debian/ours debian/debian" # by a run path, so that the daemon that MPI starts keeps its own library
[ "$MPI_MAJOR" -ge 5 ] || ALONE=
for n in $SIZES; do
    for launcher in pmixrun mpirun; do
        pairs=UNDER_${launcher^^}
        for p in $NAMES; do
            across "${!pairs}" "${p%=*}_of_${n}_ranks_under_$launcher" programs $launcher "$n" "${p#*=}"
        done
    done
    across ours/ours "programs_of_${n}_ranks_under_pmixrun_over_tcp" programs pmixrun "$n" "hello ring coll windows accept" --mca ptl tcp
done
across ours/ours ring_during_a_fence_under_pmixrun programs pmixrun 4 ring -x OMPI_MCA_pmix_base_async_modex=1
for launcher in pmixrun mpirun; do
    pairs=UNDER_${launcher^^}
    across "${!pairs}" "process_sets_of_sessions_under_$launcher" in_sessions $launcher sessions
    across "${!pairs}" "communicators_of_sessions_under_$launcher" in_sessions $launcher worlds
    across "${!pairs}" "spawn_under_$launcher" dynamic $launcher spawn spawned:2
    across "${!pairs}" "spawn_of_several_programs_under_$launcher" dynamic $launcher multiple spawned:3
    across "${!pairs}" "connection_by_a_published_name_under_$launcher" dynamic $launcher rendezvous serve:2 call:1
    across "${!pairs}" "MPI_Abort_under_$launcher" aborted $launcher
done
across "$UNDER_PMIXRUN" failures_of_jobs_that_MPI_starts bereft pmixrun
across "$ALONE" hello_without_a_launcher alone hello
across "$ALONE" windows_without_a_launcher alone windows
across "$ALONE" process_sets_without_a_launcher alone sessions
across "$ALONE" spawn_without_a_launcher alone spawn 2
for lib in debian ours; do
    t "Open_MPI_on_${lib}_library_learns_of_other_models" modelled $lib
    t "program_with_${lib}_library_is_preloaded" preloaded $lib
    t "input_of_ranks_of_${lib}_library_comes_out_of_all" echoes $lib
    t "output_of_ranks_of_${lib}_library_is_whole" shouted $lib
    t "text_of_an_error_of_${lib}_library_is_shown" erroneous $lib
    t "ranks_of_${lib}_library_know_what_they_are_bound_to" bound $lib
    t "killed_rank_of_${lib}_library_leaves_nothing" killed $lib RANK
    t "killed_server_of_${lib}_library_leaves_nothing" killed $lib SERVER
done
t process_without_its_server_does_not_wait serverless
t processes_go_where_mpirun_puts_them placed
t our_ranks_are_offered_usock_unless_excluded transports
suite_end
