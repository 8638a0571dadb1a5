#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests of pmixrun with programs, with and without PMIx: exit status, signals, environment, several
# programs, and pmixrun's own end. Streams are in streams.sh.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin launcher "$@"

# ---- exit status ----------------------------------------------------------------------------

all_well() {
    pr -n 4 true
    pr true
}

exit_code() { # the status is the first failed rank's; waiting ranks are ended
    rc_of 3 pr -n 3 sh -c 'if [ "$PMIX_RANK" = 1 ]; then exit 3; fi; sleep 30' 2>"$ERR"
    grep -Eq 'rank 1\b' "$ERR" || fail "no line names rank 1"
    lines 1 'rank' "$ERR"
}

killed_by_signal() { # killed_by_signal NAME NUMBER
    rc_of $((128 + $2)) pr -n 2 sh -c "if [ \$PMIX_RANK = 1 ]; then kill -$1 \$\$; fi; sleep 30" 2>"$ERR"
    grep -Eq "rank 1\b.*(signal $2|SIG$1)" "$ERR" || fail "no line names rank 1 and signal $2"
    grep -Fq "$(uname -n)" "$ERR" || fail "the line does not name the host"
}

sigchld_ignored() { # pmixrun gets exit statuses although its parent ignores SIGCHLD
    local pr=(run 60 env --ignore-signal=CHLD "$PMIXRUN")
    rc_of 7 "${pr[@]}" -n 3 sh -c 'exit 7' 2>"$ERR"
    rc_of 143 "${pr[@]}" sh -c 'kill $$' 2>"$ERR"
    "${pr[@]}" -n 3 sh -c 'grep -q "^SigIgn:.*0....$" "/proc/$PPID/status"' # whatever the kernel can do
}

no_finalize() { # ranks end without PMIx_Finalize while others still send requests
    local rc=0
    STRICT=1 pr -n 2 "$CLIENT" stay leave >"$OUT" 2>"$ERR" || rc=$?
    lines 2 '^up [01] pid' "$OUT"
    [ $rc -lt 124 ] || fail "exit status $rc"
}

# ---- descriptors ------------------------------------------------------------------------------

few_descriptors() { # one line before anything starts, or success
    local n
    for n in 12 24 30 40; do
        (ulimit -n $n; rc_of 1 pr -n 2 touch "$TMPDIR/ran" 2>"$ERR")
        same "pmixrun: cannot start 2 processes: 48 file descriptors are needed, and the hard limit is $n (see ulimit -Hn)" \
            "$(cat "$ERR")" "error"
        gone "$TMPDIR/ran"
    done
    (ulimit -n 48; pr -n 2 "$CLIENT" exchange >"$OUT")
    (ulimit -n 440; pr -n 100 true)
    for n in 14 30; do # the soft limit rises, but not that of the processes
        (ulimit -Sn $n; pr -n 2 "$CLIENT" exchange >"$OUT"; prints 2 "^$n\$" -n 2 sh -c 'ulimit -Sn')
    done
}

# ---- environment --------------------------------------------------------------------------------

export_variable() {
    HIDDEN='a b=c;"q"' pr -n 2 -x HIDDEN sh -c 'echo "$PMIX_RANK:$HIDDEN"' >"$OUT"
    lines 2 '^[01]:a b=c;"q"$' "$OUT"
    prints 2 '^1=2//$' -n 2 -x SHOWN=1=2 -x OTHER= sh -c 'echo "$SHOWN/${OTHER-unset}/"'
}

# Counts our variables in the launch information, as the processes here have all variables anyway. Three jobs: one
# spawns two, and one of these has no program.
forward_variables() { # forward_variables COUNT OPTION...
    local count=$1
    shift
    FW_A=1 FW_B=2 FW_AB=3 pr --mca mca_base_verbose debug "$@" "$CLIENT" spawn 1 >"$OUT" 2>"$ERR"
    lines $((count > 0 ? 3 : 0)) "pnet/envar: job .*: $count variables forwarded\$" "$ERR"
}
forward_all() {
    forward_variables 1 -x FW_A
    forward_variables 3 -x 'FW_*'
    forward_variables 2 -x 'FW_?'
    forward_variables 2 -x FW_A -x FW_B
    forward_variables 2 -x 'FW_*;!FW_AB'
    forward_variables 2 -x 'FW_*' --mca forward_envars_exclude FW_A
    forward_variables 0 -x 'FX_*'
    # without options: by parameter, from each source
    forward_variables 2 --mca forward_envars 'FW_?'
    PMIX_MCA_forward_envars='FW_A*' forward_variables 2
    local dir=$TMPDIR/params
    mkdir "$dir"
    echo "forward_envars = FW_*" >"$dir/x.conf"
    forward_variables 3 --tune "$dir/x.conf"
    PMIX_MCA_mca_base_param_files=$dir/x.conf forward_variables 3
    # and as docs/admin.md has it, line by line
    eval "$(sed -n "s/ srun .*//; /^PMIX_MCA_forward_envars=/p" "$SOURCE/docs/admin.md") forward_variables 1"
    sed -n '/^forward_envars.* = /p' "$SOURCE/docs/admin.md" >"$dir/x.conf"
    same 2 "$(wc -l <"$dir/x.conf")" "lines of the example"
    forward_variables 1 --tune "$dir/x.conf"
    rm -r "$dir"
    rc_of 1 pr -x 'FW_*B' touch "$TMPDIR/began" 2>"$ERR"
    lines 1 "cannot forward variables by \"FW_\*B\": '\*' stands for the rest of a name, at byte 3\$" "$ERR"
    [ ! -e "$TMPDIR/began" ] || fail "a process was started"
}

ports() { # as docs/admin.md has it
    export PMIX_MCA_pnet_ports_tcp=32000-32100,33005 PMIX_MCA_pnet_ports_per_process=2
    pr -n 3 sh -c 'echo "$PMIX_RANK $PNET_TCP_PORTS $PNET_JOB_TCP_PORTS ${PNET_UDP_PORTS-none}"' >"$OUT"
    same "$(printf '%s 32000-32005 none\n' '0 32000-32001' '1 32002-32003' '2 32004-32005')" "$(sort "$OUT")" "ports"
    # Two jobs at once, and processes that get their own ports.
    well "$PMIXRUN" -n 2 "$CLIENT" allocated tenon.ports.tcp 3
    same "$(printf 'rank %s\n' '0 has 32000-32001 of 32000-32003' '0 has 32004-32005 of 32004-32009' '1 has 32002-32003 of 32000-32003' \
        '1 has 32006-32007 of 32004-32009' '2 has 32008-32009 of 32004-32009')" "$(grep '^rank' "$OUT" | sort)" "ports of two jobs"
    if [ -f "$DEBIAN_LIB" ] && [ -z "$SANITIZE" ]; then
        pr -n 2 env LD_LIBRARY_PATH="$DEBIAN_DIR" "$CLIENT" allocated tenon.ports.tcp >"$OUT"
        lines 2 '^rank [01] has 3200[02]-3200[13] of 32000-32003$' "$OUT"
    fi
    rc_of 1 pr -n 52 true 2>"$ERR"
    lines 1 'cannot give job .* 104 ports of tcp: of 102 in pnet_ports_tcp, 102 are left$' "$ERR"
    rc_of 1 pr --mca pnet_ports_per_job 4 -n 3 true 2>"$ERR"
    lines 1 'cannot give job .* 6 ports of tcp: it may have 4 .pnet_ports_per_job.$' "$ERR"
    pr --mca pnet_ports_tcp 32000-32100,x true 2>"$ERR" || true
    lines 1 'pnet_ports_tcp = "32000-32100,x": expected a port.*, at byte 12; using ' "$ERR"
}

transport_keys() { # a different key for each job
    local key='^[0-9a-f]{32}$' show='echo $FI_OPX_UUID'
    prints 2 '^$' -n 2 sh -c "$show"
    export PMIX_MCA_pnet_opx_enabled=true
    pr -n 2 sh -c "$show" >"$OUT"
    pr -n 2 --mca mca_base_verbose debug sh -c "$show" >>"$OUT" 2>"$ERR"
    lines 4 "$key" "$OUT"
    same 2 "$(sort -u "$OUT" | wc -l)" "keys"
    lines 0 "$(tail -n 1 "$OUT")" "$ERR"
    FI_OPX_UUID=outer pr --mca pnet_opx_variables opx,ompi sh -c 'echo $FI_OPX_UUID; echo $OMPI_MCA_orte_precondition_transports; env | grep -c PSM || true' >"$OUT"
    lines 1 "$key" "$OUT"
    same "$(sed -n '1s/^.\{16\}/&-/p' "$OUT")" "$(sed -n 2p "$OUT")" "key of Open MPI"
    same 0 "$(sed -n 3p "$OUT")" "other variables"
    pr -x FI_OPX_UUID=mine sh -c "$show" >"$OUT"
    FI_OPX_UUID=forwarded pr --mca forward_envars FI_OPX_UUID sh -c "$show" >>"$OUT"
    same "mine forwarded" "$(tr '\n' ' ' <"$OUT" | sed 's/ $//')" "keys that are set"
    well "$PMIXRUN" -n 1 "$CLIENT" allocated tenon.opx 1
    lines 2 '^rank 0 has none of FI_OPX_UUID,FI_PSM2_UUID,' "$OUT"
}

hosts() { # lists with this node as the only node
    local name=${HOSTNAME:-$(uname -n)}
    printf '# here\n\n%s slots=2\nlocalhost # again\n' "$name" >"$TMPDIR/hosts"
    prints 2 '^here$' --host "$name:2,localhost" --hostfile "$TMPDIR/hosts" -n 2 echo here
    echo elsewhere.example >>"$TMPDIR/hosts"
    rc_of 1 pr --hostfile "$TMPDIR/hosts" true 2>"$ERR"
    lines 1 'host elsewhere.example of .*/hosts is not this node, .*resource manager' "$ERR"
    rc_of 1 pr --host nowhere true 2>"$ERR"
    lines 1 'host nowhere is not this node' "$ERR"
    rm "$TMPDIR/hosts"
}

cluster() {
    pr --cluster-id west -n 2 "$CLIENT" cluster west >"$OUT"
    pr -n 1 "$CLIENT" cluster >>"$OUT"
    lines 3 '^OK cluster [01]$' "$OUT"
    rc_of 1 pr --cluster-id west:1 true 2>"$ERR"
    lines 1 'embedded_cluster_id "west:1": a name .* without a colon is expected' "$ERR"
}

connected() { prints "$1" "^OK $2 [0-2]$" -n "$1" "$PROGRAMS/connector" "${@:2}"; } # connected RANKS PROGRAM ARGS...

goes_on() { # the job continues without the failed process
    rc_of 3 pr --recoverable -n 3 sh -c 'if [ "$PMIX_RANK" = 1 ]; then exit 3; fi; sleep 0.3; echo on' >"$OUT" 2>"$ERR"
    lines 2 '^on$' "$OUT"
    lines 1 '^pmixrun: rank 1 .* exited with status 3$' "$ERR"
}

starts_again() { # failed processes, up to the limit of restarts
    rc_of 0 pr --restarts 2 -n 2 sh -c 'echo on; [ "$PMIX_RANK" = 0 ] || mkdir "$0" || { rmdir "$0"; exit 0; }
        exit "$PMIX_RANK"' "$TMPDIR/d" >"$OUT" 2>"$ERR"
    lines 3 '^on$' "$OUT"
    lines 1 '^pmixrun: rank 1 .* exited with status 1, and was started again \(1 of 2\)$' "$ERR"
    rc_of 3 pr --restarts 2 sh -c 'read -r line; echo "$line"; exit 3' <<<$'a\nb\nc\nd' >"$OUT" 2>"$ERR"
    same "a b c" "$(tr '\n' ' ' <"$OUT" | sed 's/ $//')" "lines of input"
    lines 2 'was started again' "$ERR"
    lines 1 '^pmixrun: rank 0 .* exited with status 3$' "$ERR"
    rc_of 2 pr --restarts 0 true 2>"$ERR"
    lines 1 '^pmixrun: --restarts "0": a number' "$ERR"
}

timeout_reports() {
    rc_of 124 pr --timeout 1 --report-state-on-timeout --get-stack-traces -n 2 "$CLIENT" stay >"$OUT" 2>"$ERR"
    lines 2 'rank [01] of .*: running, connected, to the system [A-Z]$' "$ERR"
    if has eu-stack || has gstack || has pstack || has gdb; then
        lines 2 'stack of rank [01] of' "$ERR"
    else
        lines 1 'cannot show stacks' "$ERR"
    fi
    rc_of 2 pr --get-stack-traces true 2>"$ERR"
    lines 1 'need --timeout' "$ERR"
}

relative_program() {
    printf '#!/bin/sh\necho here\n' >"$TMP/here.sh"
    chmod +x "$TMP/here.sh"
    (cd "$TMP" && pr -n 2 ./here.sh) >"$OUT"
    lines 2 '^here$' "$OUT"
    (cd "$TMP" && rc_of 127 pr ./nothing 2>"$ERR")
    lines 1 'cannot run \./nothing: No such file or directory$' "$ERR"
    PATH=$TMP:$PATH prints 2 '^here$' -n 2 here.sh
}

# ---- several programs ----------------------------------------------------------------------------

mpmd() {
    pr -n 1 sh -c 'echo "one $PMIX_RANK $0"' a : -n 2 sh -c 'echo "two $PMIX_RANK $0"' b : \
        sh -c 'echo "three $PMIX_RANK"' >"$OUT"
    lines 1 '^one 0 a$' "$OUT"
    lines 2 '^two [12] b$' "$OUT"
    lines 1 '^three 3$' "$OUT"
}

mpmd_status() {
    rc_of 4 pr -n 1 sh -c 'sleep 30' : -n 1 sh -c 'exit 4' 2>"$ERR"
    grep -Eq 'rank 1\b' "$ERR" || fail "no line names rank 1"
}

# ---- its own end ----------------------------------------------------------------------------------

timeout_ends_it() {
    local started=$SECONDS
    rc_of 124 pr --timeout 1 -n 3 sh -c 'sleep 30' 2>"$ERR"
    [ $((SECONDS - started)) -lt 10 ] || fail "it took $((SECONDS - started)) s"
    lines 1 'time|second' "$ERR"
    pr --timeout 30 -n 2 true
}

# exec waits for a program while another process holds a write lease on it.
stuck() { # stuck STATUS SECONDS COMMAND...: appends such a program to COMMAND, a call of pmixrun
    local started=$SECONDS status=$1 limit=$2
    shift 2
    printf '#!/bin/sh\n' >"$TMPDIR/stuck"
    chmod +x "$TMPDIR/stuck"
    rc_of "$status" run 60 python3 -c 'import fcntl, os, signal, subprocess, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(os.open(sys.argv[-1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
sys.exit(subprocess.call(sys.argv[1:]))' "$@" "$TMPDIR/stuck" 2>"$ERR"
    [ $((SECONDS - started)) -lt "$limit" ] || fail "it took $((SECONDS - started)) s"
    rm "$TMPDIR/stuck"
}

start_hangs() { # as in a dead file system: ended by the limit of a start, by the job's limit, and by signals
    stuck 126 8 "$PMIXRUN" --mca pfexec_linux_start_timeout 500ms --mca pfexec_posix_start_timeout 500ms -n 20
    lines 1 'not started within 500 ms' "$ERR"
    stuck 124 8 "$PMIXRUN" --timeout 1
    stuck 130 8 timeout --preserve-status -s INT 1 "$PMIXRUN" -n 20
    lines 0 . "$ERR"
}

# The spawner has ended when the launch fails.
launch_fails_late() {
    stuck 0 20 "$PMIXRUN" "$CLIENT" hasty
    lines 1 'cannot spawn: the time limit for the launch is over' "$ERR"
}

signal_is_passed_on() { # signal_is_passed_on NAME NUMBER
    start "$PMIXRUN" -n 3 "$CLIENT" stay
    await_lines 3 ^up
    kill "-$1" "$PID"
    await "$PID" 15
    same $((128 + $2)) "$RC" "exit status after SIG$1"
}

ranks_see_the_signal() { # ranks_see_the_signal NAME
    start "$PMIXRUN" -n 2 sh -c "trap 'echo got $1; exit 0' $1; echo up; while :; do sleep 0.05; done"
    await_lines 2 ^up
    kill "-$1" "$PID"
    await "$PID" 15
    lines 2 "^got $1\$" "$OUT"
}

signal_ends_nothing() { # signal_ends_nothing NAME: the processes get it, and the job goes on to its own end
    start "$PMIXRUN" -n 2 python3 -c 'import os, signal, sys, time
def show(text): os.write(1, text.encode() + b"\n")
signal.signal(getattr(signal, "SIG" + sys.argv[1]), lambda *_: show("got " + sys.argv[1]))
show("up")
while not os.path.exists(sys.argv[2]): time.sleep(0.05)
show("on")' "$1" "$TMPDIR/go"
    await_lines 2 ^up
    kill "-$1" "$PID"
    await_lines 2 "^got $1"
    : >"$TMPDIR/go"
    await "$PID" 15
    rm "$TMPDIR/go"
    same 0 "$RC" "exit status after SIG$1"
    lines 2 '^on$' "$OUT"
    lines 0 . "$ERR"
}

stopped_and_continued() { # without a handler; pmixrun itself goes on
    # A shell that starts a process by vfork cannot stop until the new process goes on.
    start "$PMIXRUN" -n 2 python3 -c 'import os, sys, time
os.write(1, b"up %d\n" % os.getpid())
while not os.path.exists(sys.argv[1]): time.sleep(0.05)' "$TMPDIR/go"
    await_lines 2 ^up
    kill -TSTP "$PID"
    are_in() { for pid in $(sed -n 's/^up //p' "$OUT"); do grep -q "^State:.$1" "/proc/$pid/status" || return 1; done; }
    until_true 15 are_in T || fail "the processes are not stopped"
    : >"$TMPDIR/go"
    grep -q '^State:.[RSD]' "/proc/$PID/status" || fail "pmixrun is stopped"
    kill -CONT "$PID"
    await "$PID" 15
    rm "$TMPDIR/go"
    same 0 "$RC" "exit status after SIGCONT"
}

nested() {
    prints 4 '^OK exchange [01]$' -n 2 "$PMIXRUN" -n 2 "$CLIENT" exchange
    STRICT=1 prints 2 '^OK exchange [01]$' -n 2 sh -c '"$0" exchange && exec "$1" -n 3 "$0" direct' "$CLIENT" "$PMIXRUN"
    lines 6 '^OK direct [0-2]$' "$OUT"
}

spawns() { # pmixrun also writes the output of a spawned job
    prints 2 '^OK spawn [01]$' -n 2 "$CLIENT" spawn 3
    lines 3 '^OK child [0-2]$' "$OUT"
    lines 1 'cannot run /no/such/program' "$ERR"
}

cause_of_the_end() { # the status of a spawned job comes from the cause of its end, in each process
    local how
    export PMIX_MCA_embedded_notice=1s # also under load
    for how in fails:5: aborts:7: late:124: aborted:9:ANSWERED deaf:9:ANSWERED; do
        rc_of "$(cut -d: -f2 <<<"$how")" pr "$CLIENT" cause "${how%%:*}" >"$OUT" 2>"$ERR"
        same "${how##*:}" "$(grep ANSWERED "$OUT" || true)" "answer of the call ($how)"
    done
    rc_of 9 pr "$CLIENT" cause aborted >"$OUT" 2>"$ERR"
    lines 1 '^NOTIFIED of ' "$OUT"
    lines 1 '^pmixrun: rank 0 .* aborted job .* with status 9: from outside$' "$ERR"
}

side_by_side() {
    local pids=() i
    for i in 1 2 3 4; do
        pr -n 3 "$CLIENT" direct >"$OUT.$i" 2>>"$ERR" &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || fail "exit status $?"; done
    for i in 1 2 3 4; do lines 3 '^OK direct [0-2]$' "$OUT.$i"; done
}

no_file_descriptors_leak() { # a rank has its streams, the socket for PMI, and nothing of the launcher's
    # descriptors of ls itself: three streams, and the folder that it reads
    prints 8 '^[0-3]$' --mca embedded_pmi false -n 2 ls /proc/self/fd </dev/null
    lines 8 '^' "$OUT"
    prints 10 '^[0-4]$' -n 2 ls /proc/self/fd </dev/null
    lines 10 '^' "$OUT"
}

unprivileged() {
    need_other
    local dir=$TMPDIR/own
    mkdir -m 777 "$dir"
    TMPDIR=$dir HOME=$dir well "${OTHER[@]}" "$PMIXRUN" -n 3 "$CLIENT" exchange
    lines 3 '^OK exchange' "$OUT"
    rmdir "$dir"
}

# ---- messages ---------------------------------------------------------------------------------------

help_and_version() {
    pr --help >"$OUT"
    local option
    for option in -n --mca -x --wdir --host --hostfile --cluster-id --stdin --pty --tools --map-by --rank-by --bind-to --cpu-list --cpus-per-proc --nooversubscribe --display-map --report-bindings --recoverable --restarts --output --tag-output --timestamp-output --merge-stderr-to-stdout --output-dir --output-filename --output-file --preload --preload-files PMIx_Abort --timeout --report-state-on-timeout --get-stack-traces --clean --progress --verbose --help --version; do
        grep -q -e "$option" "$OUT" || fail "--help does not tell of $option"
    done
    prints 1 'Tenon' --version
    same 1 "$(wc -l <"$OUT")" "lines of --version"
}

spelled() { # options as of other launchers; each message is one write, and an empty name is an error
    prints 3 '^x$' -np 2 echo x : -np 1 echo x
    prints 1 '^usage: pmixrun' -h
    rc_of 2 pr --host "" true 2>"$ERR"
    lines 1 '^pmixrun: --host "" is empty; see pmixrun --help$' "$ERR"
    has strace || return 0
    rc_of 2 run 60 strace -qq -e trace=write -o "$TMPDIR/calls" "$PMIXRUN" --nonsense 2>"$ERR"
    same 1 "$(grep -c '^write(2' "$TMPDIR/calls")" "writes of one message"
    rm "$TMPDIR/calls"
}

verbose() {
    pr --verbose -n 2 true >"$OUT" 2>"$ERR"
    [ -s "$ERR" ] || fail "--verbose says nothing"
    same 0 "$(wc -c <"$OUT")" "bytes on stdout"
    pr -n 2 true >"$OUT" 2>"$ERR"
    same 0 "$(cat "$OUT" "$ERR" | wc -c)" "bytes written without --verbose"
}

# ---- the node ---------------------------------------------------------------------------------

DEVICES=$HERE/../lib/devices.xml

topology() { # topology COMMAND...
    HWLOC_XMLFILE=$DEVICES well "$PMIXRUN" -n 2 "$@"
    lines 2 '^OK topology [01]$' "$OUT"
}

fake_hwloc() { # a library of its name without any function
    mkdir -p "$TMP/fake"
    ${CC:-cc} -shared -fPIC -Wl,-soname,libhwloc.so.15 -o "$TMP/fake/libhwloc.so.15" -x c /dev/null
}

no_hwloc() {
    fake_hwloc
    topology env LD_LIBRARY_PATH="$TMP/fake:${LD_LIBRARY_PATH:-}" "$CLIENT" topology none
}

# ---- places -------------------------------------------------------------------------------------

need_cpus() { # need_cpus N: that may be used
    [ "$(nproc)" -ge "$1" ] || skip "needs $1 CPUs"
}

allowed='echo "$PMIX_RANK $(sed -n "s/^Cpus_allowed_list:.//p" /proc/self/status)"'

bound() { # the map, the bindings, and the kernel's masks are the same
    need_cpus 2
    pr -n 2 --map-by hwthread --bind-to hwthread --display-map --report-bindings sh -c "$allowed" >"$OUT" 2>"$ERR"
    lines 1 '^map of job .* on ' "$OUT"
    lines 1 '^bindings of job .* on ' "$ERR"
    sed -nE 's/^rank ([01]), hwthread [0-9]+, bound to CPUs ([0-9]+) \[.*B.*\]$/\1 \2/p' "$OUT" >"$TMPDIR/map"
    same 2 "$(wc -l <"$TMPDIR/map")" "lines of the map"
    same "$(cat "$TMPDIR/map")" "$(grep '^[01] [0-9]*$' "$OUT" | sort)" "CPUs of the ranks"
    same "$(grep '^rank' "$OUT")" "$(grep '^rank' "$ERR")" "bindings"
    same 2 "$(cut -d' ' -f2 "$TMPDIR/map" | sort -u | wc -l)" "CPUs"
    rm "$TMPDIR/map"
}

not_bound() { # by default ranks may run on the same processors as pmixrun
    local all
    all=$(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status)
    prints 2 "^[01] $all\$" -n 2 --map-by slot --report-bindings sh -c "$allowed"
    lines 2 '^rank [01], not bound$' "$ERR"
    has taskset || skip "needs taskset"
    need_cpus 2
    run 60 taskset -c "${all##*[,-]}" "$PMIXRUN" --bind-to core sh -c "$allowed" >"$OUT"
    lines 1 "^0 ${all##*[,-]}\$" "$OUT"
    rc_of 1 run 60 taskset -c "${all##*[,-]}" "$PMIXRUN" -n 2 --bind-to core true 2>"$ERR"
    lines 1 'more would be bound to an object than it has CPUs' "$ERR"
}

made_up() { # the map for a topology of another machine, without binding
    export HWLOC_SYNTHETIC='package:2 core:2 pu:2'
    pr --display-map --map-by socket --bind-to core -n 1 true : -n 2 true >"$OUT" 2>"$ERR"
    lines 1 '^rank 1, package 1, bound to CPUs 4-5 \[\.\./\.\.\]\[BB/\.\.\]$' "$OUT"
    lines 3 '^rank' "$OUT"
    lines 1 'processes are not bound: the topology is not that of this machine' "$ERR"
    prints 4 '^rank' --display-map --map-by ppr:1:core:PE=1 true
    prints 1 '^rank 1, package 1, bound to CPUs 4-7 ' --display-map --cpus-per-proc 2 -n 2 true
    rc_of 1 pr --map-by l2cache true 2>"$ERR"
    lines 1 'attribute PMIX_MAPBY: this node has no l2cache' "$ERR"
    rc_of 1 pr --nooversubscribe -n 5 true 2>"$ERR"
    lines 1 'cannot place 5 processes beside 0 on 4 CPUs' "$ERR"
}

no_places() { # without hwloc
    fake_hwloc
    export LD_LIBRARY_PATH=$TMP/fake:${LD_LIBRARY_PATH:-}
    prints 1 '^rank 0, not bound$' --map-by slot --bind-to none --display-map true
    rc_of 1 pr --bind-to core true 2>"$ERR"
    lines 1 'attribute PMIX_BINDTO: hwloc is not installed' "$ERR"
}

t all_well_is_status_0 all_well
t exit_status_of_the_first_failed_rank exit_code
t killed_by_SEGV_is_139 killed_by_signal SEGV 11
t killed_by_KILL_is_137 killed_by_signal KILL 9
t killed_by_TERM_is_143 killed_by_signal TERM 15
t started_with_SIGCHLD_ignored sigchld_ignored
t failure_after_others_ended rc_of 5 pr -n 3 sh -c 'if [ "$PMIX_RANK" = 2 ]; then sleep 0.3; exit 5; fi'
t rank_leaves_without_finalize no_finalize
t few_descriptors_are_reported_before_anything_starts few_descriptors
t variables_are_exported export_variable
t variables_are_forwarded forward_all
t jobs_have_ports_of_their_own ports
t jobs_have_transport_keys transport_keys
t working_directory prints 2 '^/usr$' -n 2 --wdir /usr pwd
t hosts_are_this_node hosts
t cluster_has_a_name cluster
for n in 1 2 3; do
    [ $n = 2 ] && form= || form=wide
    $form t "connected_processes_have_a_namespace_$n" connected "$n" joint
    $form t "connected_process_ends_before_it_connects_$n" connected "$n" joint_ends optional
    $form t "connected_process_may_end_$n" connected "$n" joint_ends early
    $form t "connected_process_ends_$n" connected "$n" joint_ends error
    $form t "connected_process_is_missing_early_$n" connected "$n" joint_dead early
    $form t "connected_process_is_missing_late_$n" connected "$n" joint_dead late
    $form t "jobs_that_have_left_each_other_$n" connected "$n" joint_family # they end separately
done
t recoverable_job_goes_on goes_on
t failed_rank_is_started_again starts_again
t program_is_found_by_path_and_PATH relative_program
t mca_parameters_reach_the_ranks prints 2 '^error$' -n 2 --mca mca_base_verbose error \
    sh -c 'echo "$PMIX_MCA_mca_base_verbose"'
t several_programs mpmd
STRICT=1 t several_programs_are_one_job prints 6 '^OK exchange [0-5]$' \
    -n 2 "$CLIENT" exchange : -n 1 "$CLIENT" exchange : -n 3 "$CLIENT" exchange
t several_programs_one_fails mpmd_status
t timeout_ends_the_job_with_124 timeout_ends_it
t timeout_with_reports timeout_reports
t start_that_hangs_can_be_ended start_hangs
t launch_that_fails_after_its_spawner_ends_the_run launch_fails_late
t SIGINT_is_130 signal_is_passed_on INT 2
t SIGTERM_is_143 signal_is_passed_on TERM 15
t ranks_see_SIGINT ranks_see_the_signal INT
t ranks_see_SIGTERM ranks_see_the_signal TERM
t ranks_get_SIGUSR1 signal_ends_nothing USR1
t ranks_get_SIGUSR2 signal_ends_nothing USR2
t ranks_get_SIGTSTP signal_ends_nothing TSTP
t ranks_get_SIGCONT signal_ends_nothing CONT
t ranks_are_stopped_and_continued stopped_and_continued
t time_limits_hold_while_the_server_is_stopped prints 1 '^OK stopped 0$' "$CLIENT" stopped
t pmixrun_under_pmixrun nested
t ranks_start_another_job spawns
t exit_status_is_that_of_the_cause cause_of_the_end
t four_jobs_side_by_side side_by_side
t ranks_inherit_no_descriptors no_file_descriptors_leak
t runs_unprivileged unprivileged
t help_and_version help_and_version
t options_and_messages spelled
t verbose_and_silent verbose
t ranks_learn_the_topology topology "$CLIENT" topology
t ranks_without_hwloc_ask_the_server_for_distances no_hwloc
t ranks_are_bound_as_in_the_map bound
t ranks_are_bound_within_what_is_allowed not_bound
t map_of_a_made_up_topology made_up
t places_without_hwloc no_places
suite_end
