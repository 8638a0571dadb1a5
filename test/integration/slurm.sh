#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm's step daemon as a host, by its plugin mpi/pmix. The script runs Slurm on nodes of its own: a namespace each for
# the network and the host's name. The daemons open libpmix by its path, so ours is mounted over that file, in this
# script's own mount namespace.
# shellcheck disable=SC2016,SC2034,SC2154,SC2163
. "$(dirname "$0")/lib.sh"
suite_begin slurm "$@"

MPI=$TMP/bin/mpi S=$TMP/slurm NODES=3 NET=10.211.0
NODE=() DAEMONS=() WHY=''
SYSTEM_LIB=$DEBIAN_LIB
PAIRS="ours/ours ours/debian debian/ours debian/debian"
is_wide || PAIRS="ours/debian debian/ours"
NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups)
export OMPI_MCA_btl_tcp_if_include=$NET.0/24
export SLURM_CONF=$S/slurm.conf

# ---- nodes ----------------------------------------------------------------------------------------

on_node() { nsenter --target "${NODE[$1]}" --net --uts -- "${@:2}"; } # on_node NUMBER COMMAND...
start_on_node() { # start_on_node NUMBER COMMAND...: the daemon ends with this script
    (exec nsenter --target "${NODE[$1]}" --net --uts -- "${@:2}") >"$S/$2.$1.out" 2>&1 &
    DAEMONS+=($!)
}

# The first node has a bridge, to which each other node has a cable.
make_nodes() {
    local i
    for ((i = 0; i < NODES; i++)); do
        unshare --net --uts -- sh -c 'hostname "$1" && ip link set lo up && exec sleep 3600' sh "n$i" &
        NODE[i]=$!
    done
    { echo 127.0.0.1 localhost; for ((i = 0; i < NODES; i++)); do echo "$NET.$((i + 1)) n$i"; done; } >"$S/hosts"
    mount --bind "$S/hosts" /etc/hosts || return 1
    for ((i = 0; i < NODES; i++)); do
        until_true 10 eval '[ "$(on_node $i hostname 2>/dev/null)" = "n$i" ]' || return 1
        case $i in
            0) on_node 0 ip link add eth0 type bridge || return 1 ;;
            *)
                on_node 0 ip link add "to$i" type veth peer name eth0 netns "${NODE[i]}" || return 1
                on_node 0 ip link set "to$i" master eth0 up
                ;;
        esac
        on_node "$i" ip address add "$NET.$((i + 1))/24" dev eth0
        on_node "$i" ip link set eth0 up
    done
}

configure() {
    cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=n0
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=$SOCKET
StateSaveLocation=$S/state
SlurmdSpoolDir=$S/spool.%n
TmpFS=$S/tmp.%n
SlurmctldPidFile=$S/slurmctld.pid
SlurmdPidFile=$S/slurmd.%n.pid
SlurmctldLogFile=$S/slurmctld.log
SlurmdLogFile=$S/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
KillWait=2
NodeName=n[0-$((NODES - 1))] CPUs=64 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
    # Newer daemons want cgroups, which containers lack; older ones do not know the value.
    case $(slurmd -V) in *" 22."*) ;; *) echo CgroupPlugin=disabled >"$S/cgroup.conf" ;; esac
}

all_idle() { [ "$(on_node 0 sinfo --noheader --format '%T %D' 2>/dev/null)" = "idle $NODES" ]; }

begin_slurm() {
    local i
    mkdir -m 755 "$S" "$S/state" "$TMP/debian"
    mkdir -m 1777 "$S/record"
    cp "$SYSTEM_LIB" "$TMP/debian/libpmix.so.2" # for ranks, while ours is mounted over the other one
    DEBIAN_DIR=$TMP/debian DEBIAN_LIB=$TMP/debian/libpmix.so.2
    make_nodes || { WHY="cannot make nodes of namespaces"; return; }
    MARK=$TMP/daemons RECORD=$S/record
    start_munged "$S/munge" || { WHY="munged: $(tail -1 "$S/munge/out")"; return; }
    DAEMONS+=("$DAEMON")
    configure
    export LD_DEBUG=libs LD_DEBUG_OUTPUT=$S/record/ld TENON_TEST_MARK=$MARK
    start_on_node 0 slurmctld -D -i
    for ((i = 0; i < NODES; i++)); do
        mkdir -m 1777 "$S/tmp.n$i"
        start_on_node "$i" slurmd -D -N "n$i"
    done
    unset LD_DEBUG LD_DEBUG_OUTPUT TENON_TEST_MARK RECORD
    until_true 40 all_idle || WHY="Slurm does not start: $(tail -qn 1 "$S"/slurm*.out "$S"/slurm*.log | head -1)"
}

end_slurm() {
    local pid
    [ -n "$WHY" ] || on_node 0 timeout 5 scancel --user=root --quiet || :
    for pid in "${DAEMONS[@]}" "${NODE[@]}"; do kill "$pid" || :; done
    # Slurm 24.11 has daemons that never end.
    for pid in "${DAEMONS[@]}"; do until_true 10 eval '! kill -0 "$pid" 2>/dev/null' || kill -9 "$pid" || :; done
    for pid in "${DAEMONS[@]}" "${NODE[@]}"; do wait "$pid" || :; done
    MARK=$TMP/daemons end_leftovers # step daemons
} 2>/dev/null

# ---- steps ------------------------------------------------------------------------------------------

# with SERVER RANKS: prepares a case with these libraries
with() {
    while umount -l "$SYSTEM_LIB" 2>/dev/null; do :; done
    [ "$1" = debian ] || mount --bind "$OUR_LIB" "$SYSTEM_LIB"
    SERVER=$1 RANKS=$2
    ON_0=(nsenter --target "${NODE[0]}" --net --uts --)
    rm -f "$S"/record/*
}

# mpi_program SERVER RANKS: prepares a case with an MPI program
mpi_program() {
    with "$@"
    [ -x "$MPI" ] || skip "Debian's libopenmpi-dev is not installed"
}

# messages PROGRAM...: runs a step of MPI. Slurm ends a fence without data, as at the end of MPI_Init, on each node alone. Open
# MPI 4 and 5 crash when a message over TCP then comes before their end of MPI_Init: in a function of the
# PML, or by a call of address 0, which Open MPI or UCX reports. Such a run does not count.
messages() {
    local tries
    for tries in 1 2 3 4; do
        RC=0
        run 90 "$@" <"${IN:-/dev/null}" >"$OUT" 2>"$ERR" || RC=$?
        [ $RC != 0 ] && crashed || break
        forget "$tries"
    done
}
# A rank that was ended before its program ran would count as the program before.
forget() {
    print_line "try $1: MPI_Init crashed"
    rm -f "$RECORD"/ld.*
}
crashed() { grep -qE 'mca_pml_ob1_recv_frag_callback_match|(Failing|to object) at address:? \(nil\)' "$ERR"; }

# up COUNT: starts a step of MPI whose ranks stay until a signal ends them, and waits for all
up() {
    local tries
    for tries in 1 2 3 4; do
        start timeout 60 "${STEP[@]}" "$MPI" stay
        until_true 30 came_up "$1" || fail "not $1 ranks are up: $(cat "$OUT" "$ERR" | tail -2)"
        has_lines "$1" '^UP' && return
        await "$PID" 30
        crashed || fail "exit status $RC: $(tail -1 "$ERR")"
        forget "$tries"
    done
    fail "MPI_Init crashed each time"
}
came_up() { has_lines "$1" '^UP' || ! kill -0 "$PID" 2>/dev/null; }

sent() { messages "$@"; [ "$RC" = 0 ] || fail "exit status $RC: $(tail -1 "$ERR")"; }

# Sets STEP to the command of a step whose processes have the library of the ranks.
step() { # step NODES TASKS [OPTION...]
    local nodes=$1 n=$2
    shift 2
    STEP=("${ON_0[@]}" srun --mpi=pmix -N "$nodes" -n "$n" --ntasks-per-node=$(((n + nodes - 1) / nodes)) "$@"
        env "LD_LIBRARY_PATH=$(folder "$RANKS")")
}

# libraries COUNT PROGRAM [COUNT PROGRAM FILE]: checks the libpmix of all processes
libraries() {
    local own=("$S"/record/*) server=$SYSTEM_LIB # not its copy
    [ ! -e "${own[0]}" ] || cp "${own[@]}" "$RECORD"/
    [ "$SERVER" = debian ] || server=$OUR_LIB
    used 1 '@(srun|slurmd|slurmstepd)' "$server" "$1" "$2" "$(library "$RANKS")" "${@:3}"
    same yes "$(loaded_libs | awk '$1 == "slurmstepd" { print "yes"; exit }')" "slurmstepd has loaded libpmix"
}

# ---- cases ------------------------------------------------------------------------------------------

# runs SERVER RANKS NODES TASKS PROGRAM [VARIABLE=VALUE]...
runs() {
    local nodes=$3 n=$4 p=$5
    mpi_program "$1" "$2"
    shift 5
    export MPI_LOCAL_SIZE=$((n / nodes)) "$@"
    step "$nodes" "$n"
    sent "${STEP[@]}" "$MPI" "$p" "$n"
    lines "$n" "^OK $p [0-9]+/$n\$" "$OUT"
    libraries "$n" mpi
}

clients() { # clients SERVER RANKS NODES TASKS PROGRAM...
    local p n=$4
    with "$1" "$2"
    step "$3" "$n"
    for p in "${@:5}"; do
        well "${STEP[@]}" "$CLIENT" "$p"
        lines "$n" "^OK $p [0-9]+\$" "$OUT"
    done
    libraries "$n" client
}

collected() { # every rank reads values of all nodes after a fence
    with "$1" "$2"
    step 3 6
    well "${STEP[@]}" "$MODEX"
    lines 6 '^rank [0-5] of 6 on n[0-2]:( [0-5]=pid [0-9]+ on n[0-2](,|$)){5}$' "$OUT"
    libraries 6 modex
}

environment() {
    local v
    with "$1" "$2"
    step 1 2
    well "${STEP[@]}" env
    for v in 'PMIX_NAMESPACE=slurm\.pmix\.' PMIX_SERVER_TMPDIR= PMIX_VERSION=; do lines 2 "^$v" "$OUT"; done
    lines 1 '^PMIX_RANK=0$' "$OUT"
    lines 1 '^PMIX_RANK=1$' "$OUT"
}

aborted() { # aborted SERVER RANKS NODES
    local rc=0
    mpi_program "$1" "$2"
    step "$3" 3
    messages "${STEP[@]}" "$MPI" abort
    same 7 "$RC" "exit status"
    lines 0 '^OK' "$OUT"
    run 60 "${STEP[@]}" "$CLIENT" abort 1 17 >"$OUT" 2>"$ERR" || rc=$?
    case $rc in 17 | 137 | 143) ;; *) fail "exit status $rc of an abort with 17" ;; esac # 137 of those that it ended
}

killed() { # killed SERVER RANKS NODES
    mpi_program "$1" "$2"
    step "$3" 3 --kill-on-bad-exit=1
    up 3
    kill -9 "$(sed -n 's/^UP 2 //p' "$OUT")"
    await "$PID" 30
    case $RC in 137 | 143) ;; *) fail "exit status $RC" ;; esac
    rm -rf /dev/shm/*_segment.* "$TMPDIR"/ompi.*
}

cancelled() {
    mpi_program "$1" "$2"
    step 2 4
    up 4
    "${ON_0[@]}" scancel "$("${ON_0[@]}" squeue --noheader --format %A | head -1)"
    await "$PID" 30
    [ "$RC" != 0 ] && [ "$RC" != 124 ] || fail "exit status $RC"
    rm -rf /dev/shm/*_segment.* "$TMPDIR"/ompi.*
}

streams() { # input of rank 0, which each rank writes
    local r
    mpi_program "$1" "$2"
    seq -f %029.0f 5000 >"$TMPDIR/in"
    step 3 6 --label --input=0
    IN=$TMPDIR/in sent "${STEP[@]}" "$MPI" echo 6
    for r in 0 5; do
        sed -n "s/^$r: //p" "$OUT" | grep -v '^OK' | cmp - "$TMPDIR/in" || fail "rank $r: other lines"
    done
    rm "$TMPDIR/in"
}

two_steps() { # of one allocation, at once
    mpi_program "$1" "$2"
    step 2 4 --exact
    well "${ON_0[@]}" salloc --quiet -N 2 -n 8 bash -c '"$@" ring 4 & "$@" ring 4; rc=$?; wait $! && exit $rc' \
        bash "${STEP[@]}" "$MPI"
    lines 8 '^OK ring [0-3]/4$' "$OUT"
}

another_user() {
    mpi_program "$1" "$2"
    "${NOBODY[@]}" test -x "$MPI" -a -r "$LIBDIR/libpmix.so.2" || skip "another user cannot read the build folder"
    step 2 4 --chdir=/
    well "${NOBODY[@]}" true
    # root enters the namespaces, and becomes the user there
    STEP=("${ON_0[@]}" "${NOBODY[@]}" "${STEP[@]:${#ON_0[@]}}")
    HOME=/ well "${STEP[@]}" "$MPI" ring 4
    lines 4 '^OK ring [0-3]/4$' "$OUT"
}

# The table of pmix_host_check, as in docs/integrating-a-host.md. Slurm ends a step at each event of a process.
checked() {
    local rc=0 row
    with "$1" "$2"
    step 2 4
    run 120 "${STEP[@]}" "$BUILD/contrib/tools/pmix_host_check" --skip PMIx_Notify_event >"$OUT" 2>"$ERR" || rc=$?
    same 1 "$rc" "exit status: $(tail -1 "$ERR")"
    lines 1 '^[0-9]+ served, [0-9]+ not supported, .* rows lack ' "$OUT"
    for row in 'PMIx_Fence  .*shall +served' 'PMIx_Fence, PMIX_COLLECT_DATA +shall +served' 'PMIx_Spawn +may +not supported' \
        'PMIx_Resolve_peers, PMIx_Resolve_nodes +shall +served' 'PMIX_JOB_SIZE +shall +given: 4' 'PMIX_HOSTNAME +shall +given: n0'; do
        lines 1 "^$row\$" "$OUT"
    done
}

# The rows of docs/tools.md: a process of a step, and a tool. Each program has a step, so that
# none depends on the one before.
tools() { # tools SERVER RANKS
    local name make=(bash "$HERE/tools_row.sh" "$BUILD/contrib/tools")
    with "$1" "$2"
    name="\`slurmstepd\` of Slurm $(slurmd -V | cut -d' ' -f2)"
    [ "$1" = ours ] || name+=", OpenPMIx $(dpkg-query -W -f '${Version}' 'libpmix2*' 2>/dev/null | cut -d- -f1)"
    step 1 1
    export TOOLS_RUN="${STEP[*]}"
    row "$name" "${make[@]}" "$name, a tool" --pid %PARENT%
    row "$name" "${make[@]}" "$name, a process of the job"
}

# ---- pmixrun in an allocation ---------------------------------------------------------------------

# Sets STEP to pmixrun in an allocation of three nodes, with this library on both sides.
allocated() { # allocated [OPTION...]
    with "${SIDES[@]}"
    STEP=("${ON_0[@]}" salloc --quiet -N 3 --ntasks-per-node=4 "$PMIXRUN" "$@")
}
SIDES=(ours ours)

of_six() { # of_six SERVER RANKS: three nodes, with these libraries
    SIDES=("$@")
    allocated -n 6 -x "LD_LIBRARY_PATH=$(folder "$2")"
    well "${STEP[@]}" "$MODEX"
    lines 6 '^rank [0-5] of 6 on n[0-2]:( [0-5]=pid [0-9]+ on n[0-2](,|$)){5}$' "$OUT"
    libraries 6 modex 1 pmixrun "$OUR_LIB"
    [ -x "$MPI" ] || skip "Debian's libopenmpi-dev is not installed"
    export MPI_LOCAL_SIZE=2
    sent "${STEP[@]}" "$MPI" coll 6
    lines 6 '^OK coll [0-5]/6$' "$OUT"
}

# Without a step of Slurm. Open MPI finds the variables of the allocation.
on_one_node() {
    mpi_program ours ours
    sent "${ON_0[@]}" salloc --quiet -N 1 -n 4 "$PMIXRUN" -n 4 -x "LD_LIBRARY_PATH=$LIBDIR" "$MPI" coll 4
    lines 4 '^OK coll [0-3]/4$' "$OUT"
}

spread() { # RANK NODE of each process
    local row wanted
    while IFS='|' read -r row wanted; do
        # shellcheck disable=SC2086
        allocated $row
        well "${STEP[@]}" sh -c 'echo "$PMIX_RANK $(hostname)"'
        same "$wanted" "$(sort -n "$OUT" | paste -sd ,)" "$row"
    done <<'END'
-n 5|0 n0,1 n0,2 n1,3 n1,4 n2
-n 5 --map-by node|0 n0,1 n1,2 n2,3 n0,4 n1
--map-by ppr:2:node|0 n0,1 n0,2 n1,3 n1,4 n2,5 n2
-n 3 --map-by ppr:2:node|0 n0,1 n0,2 n1
-n 2 --host n1,n2|0 n1,1 n2
-n 4 --host n2:3,n1|0 n2,1 n2,2 n2,3 n1
END
    allocated -n 30 --bind-to core # more than the CPUs of the allocation
    well "${STEP[@]}" hostname
    lines 10 '^n1$' "$OUT"
}

shaped() { # output forms, files, input, the environment, and several programs
    allocated -n 3 --output tag,file="$TMPDIR/f%r"
    well "${STEP[@]}" sh -c 'echo out; echo err >&2'
    lines 3 '^\[tenon-[0-9]*-1,[0-2]\]<stdout>:out$' "$OUT"
    lines 3 '^\[tenon-[0-9]*-1,[0-2]\]<stderr>:err$' "$ERR"
    lines 1 '<stdout>:out$' "$TMPDIR/f2.stdout"
    rm "$TMPDIR"/f*
    seq -f %029.0f 5000 >"$TMPDIR/in"
    allocated -n 3 --stdin 1
    (run 60 "${STEP[@]}" cat <"$TMPDIR/in" >"$OUT") || fail "exit status $?"
    cmp "$OUT" "$TMPDIR/in" || fail "input has changed"
    rm "$TMPDIR/in"
    allocated -n 2 -x A=1
    well "${STEP[@]}" sh -c 'printf "%s\n" "$PMIX_RANK $A,$B,$*"' sh "it's" 'x  y' '' '%t' 'a\b' : -n 2 -x B='2 2' --wdir /var \
        sh -c 'echo "$PMIX_RANK $A,$B $PWD"'
    same "0 1,,it's x  y  %t a\\b+1 1,,it's x  y  %t a\\b+2 1,2 2 /var+3 1,2 2 /var" "$(sort "$OUT" | paste -sd +)" output
    ! grep -v '^$' "$ERR" || fail "lines on stderr"
}

ends() { # statuses and messages as on one node
    local row status message
    while IFS='|' read -r status message row; do
        allocated -n 3
        rc_of "$status" run 60 "${STEP[@]}" sh -c "$row" >"$OUT" 2>"$ERR"
        lines 1 "^pmixrun: $message\$" "$ERR"
        same 1 "$(wc -l <"$ERR")" "lines of $row: $(cat "$ERR")"
    done <<'END'
7|rank 1 \(host n1\) exited with status 7|[ $PMIX_RANK != 1 ] || exit 7; exec sleep 60
139|rank 2 \(host n2\) killed by signal 11 \(Segmentation fault\)|[ $PMIX_RANK != 2 ] || kill -SEGV $$; exec sleep 60
END
    allocated -n 3 --recoverable
    rc_of 4 run 60 "${STEP[@]}" sh -c '[ $PMIX_RANK != 0 ] || exit 4; sleep 1; echo on' >"$OUT" 2>"$ERR"
    lines 2 '^on$' "$OUT"
    allocated -n 3
    rc_of 127 run 60 "${STEP[@]}" ./nothing 2>"$ERR"
    lines 1 '^pmixrun: cannot run .*/nothing: No such file or directory$' "$ERR"
    rc_of 126 run 60 "${STEP[@]}" /etc/passwd 2>"$ERR"
    lines 1 '^pmixrun: cannot run /etc/passwd: Permission denied$' "$ERR"
    rc_of 0 run 60 "${STEP[@]}" "$PMIXRUN" -n 1 true # in a process of a step: local
}

# A signal goes to the processes, which get two seconds.
signals() {
    allocated --report-pid "$TMPDIR/pid" -n 2
    start timeout 60 "${STEP[@]}" sh -c 'trap "echo usr1" USR1; trap "echo term; exit 0" TERM; echo up; while :; do sleep 0.1; done'
    await_lines 2 '^up$'
    kill -USR1 "$(cat "$TMPDIR/pid")"
    await_lines 2 '^usr1$'
    kill -TERM "$(cat "$TMPDIR/pid")"
    await "$PID" 20
    same 143 "$RC" "exit status"
    lines 2 '^term$' "$OUT"
    lines 0 '^(pmixrun|srun|slurm)' "$ERR"
    allocated -n 2 --timeout 1
    rc_of 124 run 30 "${STEP[@]}" sh -c 'trap "" TERM; echo up; exec sleep 60' >"$OUT" 2>"$ERR"
    lines 1 '^pmixrun: job ended after 1 seconds, its time limit$' "$ERR"
    allocated --report-pid "$TMPDIR/pid" -n 2
    start timeout 60 "${STEP[@]}" sh -c 'echo up; exec sleep 60'
    await_lines 2 '^up$'
    kill -KILL "$(cat "$TMPDIR/pid")"
    rm "$TMPDIR/pid"
    await "$PID" 20
    until_true 10 eval '[ -z "$("${ON_0[@]}" squeue --steps --noheader)" ]' || fail "the step goes on"
}

# ---- a server of the allocation -----------------------------------------------------------------

# serve [OPTION...]: starts a server of three nodes with two slots each, in an allocation that outlives the server.
serve() {
    with ours ours
    SUBMIT=("${ON_0[@]}" "$PMIXRUN" --submit)
    cd "$TMPDIR"
    OUT=$TMPDIR/dvm.out ERR=$TMPDIR/dvm.err start "${ON_0[@]}" salloc --quiet -N 3 --ntasks-per-node=2 \
        sh -c '"$@" && while [ ! -e released ]; do sleep 0.1; done' sh "$PMIXRUN" --daemonize --report-pid pid "$@"
    ALLOCATION=$PID
    until_true 30 has_submitted || fail "the server does not serve: $(cat "$TMPDIR"/dvm.*)"
    DAEMON=$(cat "$TMPDIR/pid")
}
has_submitted() { run 20 "${SUBMIT[@]}" -n 1 true 2>/dev/null; }
release() {
    until_true 20 no_steps || fail "a step goes on"
    touch "$TMPDIR/released"
    await "$ALLOCATION" 20
    rm -f "$TMPDIR"/{released,pid,dvm.out,dvm.err}
}
no_steps() { [ -z "$("${ON_0[@]}" squeue --steps --noheader --format %i | grep -vE '\.(extern|interactive|batch)')" ]; }
pterm() { well "${ON_0[@]}" "$PMIXRUN" --terminate; }

served() { # jobs as by pmixrun in the allocation
    local i pids=()
    serve
    for i in 0 1 2 3 4 5 6 7; do
        (in_case "${SUBMIT[@]}" -n 2 sh -c "echo $i \$PMIX_RANK \$(hostname); exit $((i % 3))") >"$TMPDIR/out.$i" 2>"$TMPDIR/err.$i" </dev/null &
        pids+=($!)
    done
    for i in 0 1 2 3 4 5 6 7; do
        await "${pids[i]}" 60
        same $((i % 3)) "$RC" "exit status of job $i: $(cat "$TMPDIR/err.$i")"
        [ $((i % 3)) = 0 ] || continue
        same "$i 0,$i 1" "$(sort "$TMPDIR/out.$i" | cut -d' ' -f1,2 | paste -sd ,)" "output of job $i"
        same 2 "$(grep -o 'n[0-2]$' "$TMPDIR/out.$i" | sort -u | wc -l)" "nodes of job $i"
    done
    rm "$TMPDIR"/{out,err}.[0-7]
    well "${SUBMIT[@]}" -n 6 -x "LD_LIBRARY_PATH=$LIBDIR" "$MODEX"
    lines 6 '^rank [0-5] of 6 on n[0-2]:( [0-5]=pid [0-9]+ on n[0-2](,|$)){5}$' "$OUT"
    rc_of 7 run 60 "${SUBMIT[@]}" -n 3 sh -c '[ $PMIX_RANK != 1 ] || exit 7; exec sleep 60' 2>"$ERR"
    same 'pmixrun: rank 1 (host n1) exited with status 7' "$(cat "$ERR")" "lines of the failure"
    seq -f %029.0f 5000 >"$TMPDIR/in"
    (run 60 "${SUBMIT[@]}" -n 3 --stdin 1 cat <"$TMPDIR/in" >"$OUT") || fail "exit status $?"
    cmp "$OUT" "$TMPDIR/in" || fail "input has changed"
    rm "$TMPDIR/in"
    A=mine well "${SUBMIT[@]}" -n 3 --output tag --wdir /var sh -c 'echo $A $PWD'
    lines 3 '^\[[^]]*,[0-2]\]<stdout>: *mine /var$' "$OUT"
    start timeout 60 "${SUBMIT[@]}" -n 6 sh -c 'trap "echo usr1" USR1; trap "echo term; exit 0" INT; echo up; while :; do sleep 0.1; done'
    await_lines 6 '^up$'
    rc_of 1 run 20 "${SUBMIT[@]}" --no-wait -n 1 true 2>"$TMPDIR/err"
    lines 1 '^pmixrun: cannot start the job: all slots are taken$' "$TMPDIR/err"
    (in_case "${SUBMIT[@]}" -n 6 hostname) >"$TMPDIR/waits" 2>&1 &
    i=$!
    pkill -USR1 --parent "$PID" || fail "no submitter"
    await_lines 6 '^usr1$'
    [ ! -s "$TMPDIR/waits" ] || fail "a job runs without slots"
    pkill -INT --parent "$PID"
    await "$PID" 20
    same 130 "$RC" "exit status"
    lines 6 '^term$' "$OUT"
    await "$i" 30
    lines 2 '^n2$' "$TMPDIR/waits"
    rm "$TMPDIR/waits" "$TMPDIR/err"
    if /usr/bin/python3 -c 'import pmix' 2>/dev/null; then # a tool of the other library's binding
        PYTHONPATH=$(find /usr/lib/python3/dist-packages -maxdepth 1 -name 'pypmix-*.egg' 2>/dev/null | head -1) LD_LIBRARY_PATH=$LIBDIR \
            well "${ON_0[@]}" /usr/bin/python3 "$HERE/binding.py" submit "$DAEMON" 3 "$TMPDIR/made"
        lines 1 '^OK submit 3$' "$OUT"
        touch "$TMPDIR/made"
        until_true 20 has_lines 3 . "$TMPDIR/made" || fail "not all jobs have run"
        rm -f "$TMPDIR/made"
    fi
    start "${SUBMIT[@]}" -n 3 sh -c 'echo up; exec sleep 300'
    await_lines 3 '^up$'
    pterm
    await "$PID" 20
    grep -qs '^State:[[:space:]]*[^Z[:space:]]' "/proc/$DAEMON/status" && fail "the server runs"
    release
}

served_kills() { # a killed submitter or server leaves no step; other jobs go on
    local other
    serve --host n0:3,n2:3
    well "${SUBMIT[@]}" -n 4 hostname
    same 'n0 n0 n2 n2' "$(sort "$OUT" | paste -sd ' ')" nodes
    OUT=$TMPDIR/other start "${SUBMIT[@]}" -n 3 sh -c 'echo up; while ! test -e go; do sleep 0.1; done; echo done'
    other=$PID
    await_lines 3 '^up$' "$TMPDIR/other"
    start "${SUBMIT[@]}" -n 3 sh -c 'echo $$; exec sleep 300'
    await_lines 3 '^[0-9]+$'
    kill -9 "$PID"
    await "$PID" 20
    until_true 20 eval '! kill -0 $(cat "$OUT") 2>/dev/null' || fail "processes of a killed submitter run"
    well "${SUBMIT[@]}" -n 3 true # their slots are free
    touch "$TMPDIR/go"
    await "$other" 20
    same 0 "$RC" "exit status of the other"
    lines 3 '^done$' "$TMPDIR/other"
    rm "$TMPDIR"/{other,go}
    start "${SUBMIT[@]}" -n 6 sh -c 'echo $$; exec sleep 300'
    await_lines 6 '^[0-9]+$'
    kill -9 "$DAEMON"
    await "$PID" 20
    same 1 "$RC" "exit status"
    lines 1 '^pmixrun: the connection to the server is lost$' "$ERR"
    until_true 20 eval '! kill -0 $(cat "$OUT") 2>/dev/null' || fail "processes of a killed server run"
    release
}

# The start of 1,000 ranks takes as long as by srun alone: the medians of pairs of runs.
quick() {
    local i ours=() plain=() begun command
    for ((i = 0; i < 10; i++)); do
        for command in "$PMIXRUN" "srun --mpi=pmix --overcommit -N 3"; do
            allocated
            begun=$(date +%s%N)
            # shellcheck disable=SC2086
            well "${STEP[@]:0:$((${#STEP[@]} - 1))}" $command -n 1000 "$BUILD/contrib/examples/hello"
            begun=$((($(date +%s%N) - begun) / 1000000))
            lines 1000 '^hello from rank ' "$OUT"
            case $command in srun*) plain+=("$begun") ;; *) ours+=("$begun") ;; esac
        done
    done
    begun=$(printf '%s\n' "${ours[@]}" | sort -n | sed -n 5p)
    i=$(printf '%s\n' "${plain[@]}" | sort -n | sed -n 5p)
    print_line "# 1,000 ranks: pmixrun $begun ms, srun $i ms"
    [ $((begun * 10)) -le $((i * 11)) ] || fail "pmixrun takes $begun ms, srun $i ms"
}

nothing_stays() { # in the folders of the nodes
    with ours ours
    until_true 10 eval '[ -z "$(find "$S"/spool.* "$S"/tmp.* -name "*pmix*")" ]' ||
        fail "$(find "$S"/spool.* "$S"/tmp.* -name '*pmix*' | head -3)"
}

if ! has slurmctld || ! has slurmd || ! has srun || ! has munged; then
    WHY="needs Slurm and munge"
elif [ "${TENON_PRIVATE_SHM:-}" != yes ]; then
    WHY="needs root, and mounts"
elif [ ! -f "$SYSTEM_LIB" ]; then
    WHY="Debian's libpmix2 is not installed"
elif [ -n "$SANITIZE" ]; then
    WHY="a sanitized library cannot be loaded into Slurm's own programs"
else
    copy_mpi
    trap 'status=$?; end_slurm; set +e; (exit $status); cleanup' EXIT
    begin_slurm
fi
[ -z "$WHY" ] || { print_line "SKIP slurm: $WHY"; exit 77; }

across "$PAIRS" processes_of_Slurm_have_their_environment environment
across "$PAIRS" MPI_on_one_node_of_Slurm runs 1 16 coll
across "$PAIRS" MPI_on_three_nodes_of_Slurm runs 3 6 coll
wide across "$PAIRS" messages_on_three_nodes_of_Slurm runs 3 6 ring
wide across "$PAIRS" fence_of_Slurm_as_a_tree runs 3 6 ring SLURM_PMIX_FENCE=tree
wide across "$PAIRS" fence_of_Slurm_as_a_ring runs 3 6 ring SLURM_PMIX_FENCE=ring
wide across "$PAIRS" fence_by_messages_of_Slurm runs 3 6 ring SLURM_PMIX_DIRECT_CONN=false
wide across "$PAIRS" early_connections_of_Slurm runs 3 6 ring SLURM_PMIX_DIRECT_CONN_EARLY=true
wide across "$PAIRS" fence_of_Slurm_without_data runs 3 6 ring OMPI_MCA_pmix_base_collect_data=0
across "$PAIRS" PMIx_on_three_nodes_of_Slurm collected
across "$PAIRS" PMIx_on_one_node_of_Slurm clients 1 4 exchange direct resolve
across "$PAIRS" streams_of_a_step streams
across "$PAIRS" steps_at_once two_steps
across "$PAIRS" step_of_another_user another_user
wide across "$PAIRS" abort_on_one_node_of_Slurm aborted 1
across "$PAIRS" abort_on_three_nodes_of_Slurm aborted 3
across "$PAIRS" killed_rank_ends_its_step killed 3
across "$PAIRS" step_is_cancelled cancelled
across "$PAIRS" pmix_host_check_under_Slurm checked
across "$PAIRS" pmixrun_over_three_nodes of_six
t pmixrun_on_one_node_of_Slurm on_one_node
t pmixrun_places_ranks_on_nodes spread
t pmixrun_shapes_the_output_of_nodes shaped
t job_of_nodes_ends_as_on_one_node ends
t pmixrun_ends_the_job_of_nodes signals
t server_of_three_nodes_has_many_jobs served
t killed_server_of_nodes_leaves_no_step served_kills
[ "$(times 0 1 0)" = 0 ] || t thousand_ranks_start_as_quickly_as_by_srun quick
t no_file_stays_on_the_nodes nothing_stays
across ours/ours tools_at_Slurm tools
wide across debian/ours tools_at_Slurm tools # the last case: it ends step daemons, whose files stay
end_slurm
trap cleanup EXIT
suite_end
