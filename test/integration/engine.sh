#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# pmixrun gives its job to the launcher of an allocation. A fake srun prints its arguments here, and a fake flux checks its
# arguments and runs the processes; slurm.sh has the real srun over three nodes. The real flux runs where it is installed.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin engine "$@"

REAL_FLUX=$(command -v flux || :)
mkdir "$TMP/engines"
cat >"$TMP/engines/srun" <<'END'
#!/bin/bash
printf srun
for word; do
    case $word in
        --error=/proc/*/fd/*) errors=${word#*=} ;;
        *=/proc/*/fd/*) printf ' %sFILE' "${word%/proc*}"; file=${word#*=} ;;
        /proc/*/fd/*) printf ' FILE'; file=$word ;;
        *) printf ' %s' "$word" ;;
    esac
done
printf '\n'
[ -z "$file" ] || cat "$file"
[ -z "$A$PMIX_MCA_b" ] || echo "A=$A b=$PMIX_MCA_b"
[ -z "$SLURM_DISTRIBUTION" ] || echo "distribution=$SLURM_DISTRIBUTION"
[ -z "$SRUN_PID" ] || { echo $$ >"$SRUN_PID"; exec sleep 20; }
[ -z "$NOISE" ] || exec yes >"$errors"
[ -z "$SRUN_RECORD" ] || echo "$*" >>"$SRUN_RECORD"
[ -z "$SHOW" ] || echo "job=$SLURM_JOB_ID in $PWD"
[ -z "$STAY" ] || { trap 'kill $!; echo term >"$STAY"; exit 143' TERM; sleep 20 & echo up; wait; }
exit 7
END
# Options of flux-run(1) that pmixrun uses. The processes run here, with labels if wanted.
cat >"$TMP/engines/flux" <<'END'
#!/bin/bash
shopt -s extglob
[ "$1" = run ] || { echo "flux: unknown command $1" >&2; exit 1; }
n=1 nodes='' per='' label='' all=("$@")
shift
while [[ $1 = -* ]]; do
    case $1 in
        --ntasks=[1-9]*) n=${1#*=} ;;
        --nodes=[1-9]*) nodes=${1#*=} ;;
        --tasks-per-node=[1-9]*) per=${1#*=} ;;
        --label-io) label=1 ;;
        --unbuffered | --cores-per-task=[1-9]* | --taskmap=cyclic | --cwd=/* | --requires=host:[a-z]* | --input=[0-9]* | --input=/*) ;;
        --setopt=pmi=pmix | --setopt=exit-on-error | --setopt=exit-timeout=none | --setopt=cpu-affinity=@(off|per-task)) ;;
        --) shift; break ;;
        *) echo "flux-run: ERROR: unrecognized argument $1" >&2; exit 2 ;;
    esac
    shift
done
[ -z "$per" ] || { [ -n "$nodes" ] || exit 2; n=$((per * nodes)); }
echo "flux ${all[*]}" >>"$RECORD_FILE"
[ -z "$A$PMIX_MCA_b" ] || echo "A=$A b=$PMIX_MCA_b" >>"$RECORD_FILE"
trap 'echo "flux: cancelled" >&2; kill $(jobs -p) 2>/dev/null; exit 143' INT
worst=0
for ((i = 0; i < n; i++)); do
    if [ -n "$label" ]; then
        FLUX_TASK_RANK=$i "$@" > >(sed -u "s/^/$i: /") 2> >(sed -u "s/^/$i: /" >&2) &
    else
        FLUX_TASK_RANK=$i "$@" &
    fi
done
for pid in $(jobs -p); do
    wait "$pid"
    rc=$?
    [ $rc -le $worst ] || worst=$rc
done
[ $worst = 0 ] || echo "flux-job: task(s) exited with exit code $worst" >&2
exit $worst
END
chmod 755 "$TMP/engines"/*
export PATH=$TMP/engines:$PATH RECORD_FILE
RECORD_FILE=$TMP/record
SLURM_ENV=(SLURM_JOB_ID=1 SLURM_NNODES=3 'SLURM_JOB_NODELIST=n[0-1],m07' 'SLURM_TASKS_PER_NODE=4(x2),3' SLURM_DISTRIBUTION=plane=4)
FLUX_ENV=(FLUX_URI=local:///x)
in_slurm() { run 20 env "${SLURM_ENV[@]}" "$PMIXRUN" "$@"; }
in_flux() { : >"$RECORD_FILE"; run 20 env "${FLUX_ENV[@]}" "$PMIXRUN" "$@"; }

# ---- srun -----------------------------------------------------------------------------------------

S='srun --mpi=pmix --export=ALL --wait=0 --kill-on-bad-exit=1'
PLAIN='--input=0 --cpu-bind=none --overcommit --overlap'

# Each row: arguments | the command line of srun after S, where "=" stands for PLAIN, and "+" begins a line.
srun_rows() {
    local wanted row n=0
    while IFS='|' read -r row wanted; do
        # shellcheck disable=SC2086
        rc_of 7 in_slurm $row >"$OUT" 2>"$ERR"
        same "$S ${wanted/ = / $PLAIN }" "$(paste -sd + "$OUT")" "$row"
        lines 0 . "$ERR"
        n=$((n + 1))
    done
    same "$1" $n rows
}

arguments() {
    srun_rows 15 <<'END'
-n 64 ./a b|--nodes=3 --ntasks=64 = ./a b
./a -n 2|--nodes=1 --ntasks=1 = ./a -n 2
-np 4 --wdir /tmp --timeout 90 a|--chdir=/tmp --nodes=3 --ntasks=4 = a
-n 4 --nooversubscribe -- -a|--nodes=3 --ntasks=4 --input=0 --cpu-bind=none -- -a
-n 4 --map-by slot:PE=2 a|--cpus-per-task=2 --nodes=3 --ntasks=4 --input=0 --cpu-bind=none a
-n 4 --cpus-per-proc 3 a|--cpus-per-task=3 --nodes=3 --ntasks=4 --input=0 --cpu-bind=none a
-n 4 --map-by package a|--distribution=block:cyclic --cpu-bind=sockets --nodes=3 --ntasks=4 --input=0 --overcommit --overlap a
-n 4 --bind-to core --stdin all a|--cpu-bind=cores --input=all --nodes=3 --ntasks=4 --overcommit --overlap a
-n 4 --stdin 2 --bind-to none a|--input=2 --cpu-bind=none --nodes=3 --ntasks=4 --overcommit --overlap a
-n 2 --host n1,m07 a|--nodelist=n1,m07 --nodes=2 --ntasks=2 = a
-n 1 --host m07,n0 a|--nodelist=m07 --nodes=1 --ntasks=1 = a
-n 2 -x A=1 --mca b 2 a|--nodes=2 --ntasks=2 = a+A=1 b=2
-n 2 --preload --output raw a|--bcast --unbuffered --nodes=2 --ntasks=2 = a
--map-by ppr:1:core a|--nodes=3 --ntasks=11 = a
--launcher slurm -n 2 --map-by :oversubscribe a|--nodes=2 --ntasks=2 = a
END
    rc_of 7 in_slurm -n 2 --recoverable a >"$OUT"
    lines 1 '--wait=0 --kill-on-bad-exit=0 --nodes=2' "$OUT"
}

places() { # the file has the node of each rank
    printf '# nodes\n\nn1 slots=2\nm07\n' >"$TMPDIR/hosts"
    srun_rows 7 <<END
-n 5 --map-by node a|--distribution=arbitrary --nodelist=FILE --nodes=3 --ntasks=5 = a+n0+n1+m07+n0+n1
--map-by ppr:2:node a|--distribution=arbitrary --nodelist=FILE --nodes=3 --ntasks=6 = a+n0+n0+n1+n1+m07+m07
-n 3 --map-by ppr:2:node:oversubscribe a|--distribution=arbitrary --nodelist=FILE --nodes=2 --ntasks=3 = a+n0+n0+n1
-n 2 --host m07,n0 --map-by node a|--distribution=arbitrary --nodelist=FILE --nodes=2 --ntasks=2 = a+m07+n0
-n 4 --host n1:2,n0:3 a|--distribution=arbitrary --nodelist=FILE --nodes=2 --ntasks=4 = a+n1+n1+n0+n0
-n 4 --hostfile $TMPDIR/hosts a|--distribution=arbitrary --nodelist=FILE --nodes=2 --ntasks=4 = a+n1+n1+m07+n1
-n 2 --host n1,n1,n0 a|--distribution=arbitrary --nodelist=FILE --nodes=1 --ntasks=2 = a+n1+n1
END
    rm "$TMPDIR/hosts"
    SLURM_ENV+=('SLURM_JOB_NODELIST=a[08-11,3]b[1,20],z')
    rc_of 7 in_slurm --map-by ppr:1:node a >"$OUT"
    same 'a08b1 a08b20 a09b1 a09b20 a10b1 a10b20 a11b1 a11b20 a3b1 a3b20 z' "$(tail -n +2 "$OUT" | paste -sd ' ')" nodes
}

programs() { # a step configuration file
    rc_of 7 in_slurm -n 2 -x B=1 ./a 'x y' : b "it's" '' '%t#' : -np 3 -x C='1 2' --wdir /tmp c >"$OUT"
    same "$S --nodes=3 --ntasks=6 $PLAIN --multi-prog FILE+0-1 ./a 'x y'+2-2 b 'it'\\''s' '' '%t#'+3-5 $(command -v env) --chdir=/tmp 'C=1 2' c" \
        "$(paste -sd + "$OUT")" programs
    rc_of 2 in_slurm -n 1 a $'x\ny' : b 2>"$ERR"
    lines 1 'of one of several programs cannot be given to srun' "$ERR"
}

signals() { # a helper of Slurm that cannot start is named, and the job ends as it would
    local row helper signum rc
    mkdir "$TMPDIR/bin"
    ln -s "$TMP/engines/srun" "$(command -v sleep)" "$TMPDIR/bin"
    for row in 'scontrol USR1 137' 'scancel USR1 137' 'scontrol TERM 143' 'scancel TERM 143'; do
        read -r helper signum rc <<<"$row"
        if [ "$helper" = scancel ]; then # scontrol has the step: srun is the process that writes
            printf '#!/bin/bash\nprintf "StepId=1.0 SrunHost:Pid=n0:%%s\\n" "$(<"%s")"\n' "$TMPDIR/srun" >"$TMPDIR/bin/scontrol"
            chmod 755 "$TMPDIR/bin/scontrol"
        fi
        start env "${SLURM_ENV[@]}" PATH="$TMPDIR/bin" SRUN_PID="$TMPDIR/srun" "$PMIXRUN" -n 1 a
        until_true 10 [ -s "$TMPDIR/srun" ] || fail "srun has not started"
        kill -"$signum" "$PID"
        await_lines 1 "^pmixrun: cannot send a signal to the processes: cannot run $helper: No such file or directory\$" "$ERR"
        [ "$signum" = TERM ] || kill -KILL "$(<"$TMPDIR/srun")"
        await "$PID" 8
        same "$rc" "$RC" "exit status"
        lines 1 '^pmixrun: ' "$ERR"
        rm -f "$TMPDIR/srun" "$TMPDIR/bin/scontrol"
    done
    rm -r "$TMPDIR/bin"
}

# ---- flux -----------------------------------------------------------------------------------------

F='flux run --setopt=pmi=pmix --setopt=exit-on-error'

flux_arguments() {
    local wanted row n=0
    while IFS='|' read -r row wanted; do
        # shellcheck disable=SC2086
        in_flux $row >"$OUT" 2>"$ERR" || fail "$row: $(tail -1 "$ERR")"
        same "$F $wanted" "$(paste -sd + "$RECORD_FILE")" "$row"
        n=$((n + 1))
    done <<'END'
-n 8 true b|--ntasks=8 --input=0 --setopt=cpu-affinity=off true b
-np 2 --wdir /tmp --timeout 90 true|--cwd=/tmp --ntasks=2 --input=0 --setopt=cpu-affinity=off true
-n 2 --host n1,n2 --map-by node:pe=2 true|--taskmap=cyclic --cores-per-task=2 --requires=host:n1,n2 --nodes=2 --ntasks=2 --input=0 --setopt=cpu-affinity=off true
-n 4 --map-by ppr:2:node --stdin none true|--tasks-per-node=2 --input=/dev/null --nodes=2 --setopt=cpu-affinity=off true
--map-by ppr:2:node --host n1,n2,n3 true|--tasks-per-node=2 --requires=host:n1,n2,n3 --nodes=3 --input=0 --setopt=cpu-affinity=off true
-n 2 --bind-to core --output raw true|--setopt=cpu-affinity=per-task --unbuffered --ntasks=2 --input=0 true
-n 2 -x A=1 --mca b 2 --stdin all true|--ntasks=2 --setopt=cpu-affinity=off true+A=1 b=2
END
    same 7 $n rows
    in_flux -n 1 --continuous true
    lines 1 '^flux run --setopt=pmi=pmix --setopt=exit-timeout=none --ntasks=1' "$RECORD_FILE"
}

flux_processes() { # output, forms, statuses, signals, and time limits
    in_flux -n 3 sh -c 'echo "$FLUX_TASK_RANK"; echo e >&2' >"$OUT" 2>"$ERR"
    same '0 1 2' "$(sort "$OUT" | paste -sd ' ')" output
    lines 3 '^e$' "$ERR"
    in_flux -n 3 --output json,file="$TMPDIR/f%r" sh -c 'echo "out $FLUX_TASK_RANK"; echo e >&2' >"$OUT" 2>"$ERR"
    lines 1 '^\{"nspace":"tenon-[0-9]*-1","rank":2,"channel":"stdout","data":"out 2\\n"\}$' "$OUT"
    lines 3 '"channel":"stderr","data":"e\\n"' "$ERR"
    lines 1 '"data":"out 1\\n"' "$TMPDIR/f1.stdout"
    rm "$TMPDIR"/f*
    rc_of 5 in_flux -n 2 --tag-output sh -c 'exit $((FLUX_TASK_RANK * 5))' 2>"$ERR"
    lines 1 '^flux-job: task\(s\) exited with exit code 5$' "$ERR"
    rc_of 124 in_flux -n 2 --timeout 1 sleep 30 2>"$ERR"
    lines 1 '^pmixrun: job ended after 1 seconds, its time limit$' "$ERR"
    start env "${FLUX_ENV[@]}" "$PMIXRUN" -n 1 sh -c 'echo up; exec sleep 30'
    await_lines 1 '^up$'
    kill -TERM "$PID"
    await "$PID" 10
    same 143 "$RC" "exit status"
    lines 1 '^flux: cancelled$' "$ERR"
}

much_output() { # nothing is lost or changed, and a reader that takes nothing delays no signal
    local r n
    n=$(times 20000 100000)
    in_flux -n 3 --output rank seq -f %09.0f "$n" >"$OUT"
    for r in 0 1 2; do
        sed -n "s/^\[$r\]<stdout>://p" "$OUT" | cmp - <(seq -f %09.0f "$n") || fail "rank $r has other lines"
    done
    same $((3 * n)) "$(wc -l <"$OUT")" lines
    mkfifo "$TMPDIR/fifo"
    # shellcheck disable=SC2217 # the reader takes nothing
    sleep 20 <"$TMPDIR/fifo" &
    r=$!
    (in_case env "${SLURM_ENV[@]}" NOISE=1 "$PMIXRUN" -n 1 a) >"$OUT" 2>"$TMPDIR/fifo" &
    PID=$!
    until_true 10 [ -s "$OUT" ] || fail "srun has not started"
    kill -TERM $PID
    await $PID 8
    same 143 "$RC" "exit status"
    kill "$r"
    rm "$TMPDIR/fifo"
}

real_flux() {
    [ -n "$REAL_FLUX" ] || skip "needs flux"
    PATH=${PATH#"$TMP/engines:"} well "$REAL_FLUX" start -s 2 "$PMIXRUN" --launcher flux -n 2 --output rank "$CLIENT" exchange
    lines 2 '^\[[01]\]<stdout>:OK exchange [01]$' "$OUT"
}

# ---- a server of the allocation -----------------------------------------------------------------

# serve VARIABLES [OPTION...]: starts a daemon with the variables of this array. Its pid is in DAEMON.
serve() {
    local -n variables=$1
    well env "${variables[@]}" "$PMIXRUN" --daemonize --verbose --report-pid "$TMPDIR/pid" "${@:2}"
    DAEMON=$(cat "$TMPDIR/pid")
    rm "$TMPDIR/pid"
}
submit() { run 20 "$PMIXRUN" --submit "$@" </dev/null; }
ends() { well "$PMIXRUN" --terminate; }

# alike ARGS...: a job of the server is the job that pmixrun starts in the allocation
alike() {
    local rc=0
    in_slurm "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" || rc=$?
    rc_of "$rc" submit "$@" >"$OUT" 2>"$ERR"
    same "$(cat "$TMPDIR/out" "$TMPDIR/err")" "$(cat "$OUT" "$ERR")" "$*"
    rm "$TMPDIR/out" "$TMPDIR/err"
}

served() {
    local row n=0
    printf 'n1 slots=2\nm07\n' >"$TMPDIR/hosts"
    serve SLURM_ENV
    lines 1 '^pmixrun: launcher slurm, 11 slots$' "$ERR"
    # shellcheck disable=SC2086
    while read -r row; do alike $row a b; n=$((n + 1)); done <<END
-n 11
--map-by ppr:1:core
-n 4 --nooversubscribe
-n 4 --map-by slot:PE=2
-n 4 --cpus-per-proc 3
-n 4 --map-by package
-n 4 --bind-to core --stdin all
-n 2 --host n1,m07
-n 4 --host n1:2,n0:3
-n 4 --hostfile $TMPDIR/hosts
-n 5 --map-by node
--map-by ppr:2:node
--map-by ppr:2:node --host m07,n0
-n 2 -x A=1 -x PMIX_MCA_b=2
-n 2 --preload --output raw
-n 2 --recoverable
-n 12 --map-by :oversubscribe
-n 2 --map-by l2cache
-n 2 --rank-by slot
-n 2 --report-bindings
-n 2 --exec-agent x
-n 2 --pty
-n 2 --restarts 2
-n 2 --stop-in-init
-n 2 --session-dir
-n 2 --preload-files /x
-n 2 --host n2
-n 7 --map-by ppr:2:node
END
    same 28 $n rows
    alike -n 2 -x B=1 ./a 'x y' : b "it's" '' '%t#' : -np 3 -x C='1 2' --wdir /tmp c
    alike -n 1 a $'x\ny' : b
    SHOW=1 SLURM_JOB_ID=99 SLURM_LABELIO=1 rc_of 7 submit -n 1 --wdir /tmp a >"$OUT"
    lines 1 '^job=1 in /tmp$' "$OUT"
    rc_of 1 submit -n 12 a 2>"$ERR"
    lines 1 '^pmixrun: cannot start the job: it needs more than the server has$' "$ERR"
    rc_of 7 in_slurm --submit --verbose -n 1 a >"$OUT" 2>"$ERR" # in the allocation, too
    lines 1 '^pmixrun: job tenon-dvm-[0-9]*-[0-9]* has started$' "$ERR"
    rc_of 2 submit --launcher slurm -n 1 a 2>"$ERR"
    lines 1 '^pmixrun: --launcher is for a server' "$ERR"
    ends
    rm "$TMPDIR/hosts"
}

served_nodes() { # a part of the allocation, with slots
    local row wanted
    serve SLURM_ENV --host m07,n0
    lines 1 '^pmixrun: launcher slurm, 7 slots$' "$ERR"
    rc_of 2 submit -n 1 --host n1 a >"$OUT" 2>"$ERR"
    lines 1 '^pmixrun: host n1 is not a node of the allocation, m07,n0; ' "$ERR"
    lines 0 . "$OUT"
    rc_of 7 submit -n 4 a >"$OUT"
    same "$S --nodelist=m07,n0 --nodes=2 --ntasks=4 $PLAIN a" "$(cat "$OUT")" "command line"
    rc_of 7 submit --map-by ppr:2:node a >"$OUT"
    same 'm07 m07 n0 n0' "$(tail -n +2 "$OUT" | paste -sd ' ')" nodes
    ends
    while IFS='|' read -r row wanted; do
        # shellcheck disable=SC2086
        run 20 env "${SLURM_ENV[@]}" $row "$PMIXRUN" --daemonize --verbose >"$OUT" 2>"$TMPDIR/err" && ends
        lines 1 "^pmixrun: $wanted" "$TMPDIR/err"
        rm "$TMPDIR/err"
    done <<'END'
SLURM_TASKS_PER_NODE=2(x3)|launcher slurm, 6 slots
SLURM_TASKS_PER_NODE= SLURM_JOB_CPUS_PER_NODE=8,4(x2)|launcher slurm, 16 slots
SLURM_TASKS_PER_NODE=|--slots is needed: the allocation does not name
PMIX_NAMESPACE=x|launcher local,
PATH=/nowhere|launcher local,
END
    while IFS='|' read -r row wanted; do
        # shellcheck disable=SC2086
        rc_of 2 in_slurm --daemonize $row >"$OUT" 2>"$ERR"
        lines 1 "^pmixrun: $wanted" "$ERR"
    done <<'END'
--host n2|host n2 is not a node of the allocation, n\[0-1\],m07
--launcher pbs|--launcher "pbs"
--launcher flux --host a|--slots is needed
--launcher local --hostfile x|--hostfile is not supported by a server of one node
--wdir /|a server that stays goes without options for programs
END
    serve FLUX_ENV --host n1:2,n2:2
    : >"$RECORD_FILE"
    submit -n 2 --map-by node sh -c 'echo "$FLUX_TASK_RANK"' >"$OUT" 2>"$ERR"
    same '0 1' "$(sort "$OUT" | paste -sd ' ')" output
    lines 1 "^$F --taskmap=cyclic --requires=host:n1,n2 --nodes=2 --ntasks=2 " "$RECORD_FILE"
    rc_of 2 submit -n 1 a : b 2>"$ERR"
    lines 1 '^pmixrun: several programs cannot be given to flux' "$ERR"
    ends
}

# Attributes of a tool: an attribute that is not required has no effect where the engine refuses the option.
served_attributes() {
    local wanted
    export SRUN_RECORD=$TMPDIR/srun
    serve SLURM_ENV
    TOOL_ASKS='!pmix.indxargv pmix.indxargv pmix.rankby=slot !pmix.rankby=slot pmix.mapby=l2cache pmix.mapby=node:oversubscribe pmix.ppr=1:node pmix.fspec' \
        LD_LIBRARY_PATH=$LIBDIR well "$CLIENT" tool pid "$DAEMON"
    lines 1 '^SPAWN pmix.indxargv .*NOT.SUPPORTED$' "$OUT"
    lines 7 '^SPAWN .* (PMIX_)?SUCCESS$' "$OUT"
    touch "$SRUN_RECORD"
    until_true 20 has_lines 6 . "$SRUN_RECORD" || fail "not all jobs have run"
    ends
    wanted="$(printf '%s\n' "${S#srun } --nodes=2 --ntasks=2 $PLAIN program")"
    same 4 "$(sed "s,^--error=[^ ]* ,," "$SRUN_RECORD" | grep -cxF -- "$wanted")" "jobs without an option: $(cat "$SRUN_RECORD")"
    lines 2 '--distribution=arbitrary --nodelist=/proc/[0-9]*/fd/[0-9]* --nodes=2 --ntasks=2 ' "$SRUN_RECORD"
    rm "$SRUN_RECORD"
}

# The engine gets SIGTERM, by which it ends its step, also when the server or the submitter is killed.
served_kills() {
    local row
    for row in server submitter order; do
        serve SLURM_ENV
        start env STAY="$TMPDIR/end" "$PMIXRUN" --submit -n 1 a
        await_lines 1 '^up$'
        case $row in server) kill -9 "$DAEMON" ;; submitter) kill -9 "$PID" ;; order) ends ;; esac
        await "$PID" 20
        until_true 20 grep -q term "$TMPDIR/end" || fail "srun got no SIGTERM: $row"
        rm "$TMPDIR/end"
        [ "$row" != submitter ] || { rc_of 7 submit -n 11 a >"$OUT"; ends; }
        until_true 10 eval '[ -z "$(ls -A "$TMPDIR")" ]' || fail "$(ls -A "$TMPDIR")"
    done
}

# ---- the choice -------------------------------------------------------------------------------------

chosen() {
    local row
    for row in 'FLUX_TASK_RANK=0 FLUX_URI=x' 'SLURM_JOB_ID=1 SLURM_NNODES=1' 'SLURM_JOB_ID=1 SLURM_NNODES=2 SLURM_STEP_ID=3' \
        'SLURM_JOB_ID=1 SLURM_NNODES=2 PMIX_NAMESPACE=x' 'SLURM_NNODES=2' A=1; do
        # shellcheck disable=SC2086
        run 20 env $row "$PMIXRUN" --verbose -n 1 echo here >"$OUT" 2>"$ERR" || fail "$row: $(tail -1 "$ERR")"
        lines 1 '^here$' "$OUT"
        lines 1 '^pmixrun: launcher local$' "$ERR"
    done
    SLURM_STEP_ID=4294967290 rc_of 7 in_slurm -n 2 a >"$OUT" # the shell of an allocation
    lines 1 '^srun ' "$OUT"
    well env "${SLURM_ENV[@]}" "$PMIXRUN" --launcher local -n 1 echo here
    lines 1 '^here$' "$OUT"
    rc_of 7 in_slurm --display-map -n 2 a >"$OUT" 2>"$ERR"
    same "pmixrun: launcher slurm: $(cat "$OUT")" "$(cat "$ERR")" "line of the launcher"
    ln -s "$PMIXRUN" "$TMPDIR/prterun"
    rc_of 7 run 20 env "${SLURM_ENV[@]}" "$TMPDIR/prterun" --np 2 --map-by ppr:1:node a >"$OUT"
    lines 1 '^srun .* --distribution=arbitrary .* --ntasks=2 .* a$' "$OUT"
    rm "$TMPDIR/prterun"
    rc_of 127 run 20 env PATH=/nowhere "$PMIXRUN" --launcher flux -n 1 true 2>"$ERR"
    lines 1 '^pmixrun: cannot run flux: it is not in PATH$' "$ERR"
    rc_of 1 in_slurm --wdir /nowhere -n 1 a 2>"$ERR"
    lines 1 '^pmixrun: cannot enter directory /nowhere: No such file' "$ERR"
}

refused() { # in one line with the option, and nothing starts
    local row
    while read -r row; do
        # shellcheck disable=SC2086
        rc_of 2 in_slurm $row a >"$OUT" 2>"$ERR"
        lines 1 "^pmixrun: option ${row%% *}.* cannot be given to srun: .*; see pmixrun --help\$" "$ERR"
        same 1 "$(wc -l <"$ERR")" "lines for $row"
        lines 0 . "$OUT"
    done <<'END'
--timeline x.json
--top
--progress
--pty
--map-by l2cache
--map-by ppr:2:package
--bind-to cpu-list
--rank-by slot
--cpu-list 0
--report-bindings
--restarts 2
--tools
--tmpdir /tmp
--report-uri +
--preload-files x
--session-dir
--exec-agent x
--stop-in-init
--spawn-timeout 3
--output-file x
--get-stack-traces --timeout 3
END
}

refused_arguments() {
    local row wanted
    while IFS='|' read -r row wanted; do
        # shellcheck disable=SC2086
        rc_of 2 in_slurm $row >"$OUT" 2>"$ERR"
        lines 1 "^pmixrun: $wanted" "$ERR"
        lines 0 . "$OUT"
    done <<'END'
--launcher pbs a|--launcher "pbs": auto, local, slurm or flux is needed
-n 1 --host n0,n2 a|host n2 is not a node of the allocation, n\[0-1\],m07
-n 1 --host m7 a|host m7 is not a node
-n 1 --host n0: a|--host: slots ""
-n 1 --hostfile /nowhere a|--hostfile /nowhere: No such file
-n 7 --map-by ppr:2:node a|-n 7: 3 nodes have room for 6 processes
-n 4 --host n1:2,n0 --nooversubscribe a|-n 4: the nodes have 3 slots
--output raw,merge a|--output raw cannot be given to srun with another form
END
    while IFS='|' read -r row wanted; do
        # shellcheck disable=SC2086
        rc_of 2 in_flux $row 2>"$ERR"
        lines 1 "^pmixrun: $wanted" "$ERR"
        same 0 "$(wc -l <"$RECORD_FILE")" "starts of flux"
    done <<'END'
-n 1 a : b|several programs cannot be given to flux
-n 3 --map-by ppr:2:node a|-n 3 with --map-by ppr:2:node: flux fills each node
--map-by ppr:2:node a|--map-by ppr:2:node with flux needs -n or --host
-n 2 --host n1:2 a|option --host NODE:SLOTS cannot be given to flux: it counts the cores
-n 2 --bind-to numa a|option --bind-to numa cannot be given to flux: it binds to cores only
END
}

t srun_gets_the_options arguments
t srun_gets_the_node_of_each_rank places
t srun_gets_several_programs programs
t flux_gets_the_options flux_arguments
t signal_without_a_helper_is_reported signals
t job_of_flux_is_as_one_of_a_node flux_processes
t output_passes_unchanged much_output
t real_flux_runs_the_job real_flux
t server_of_an_allocation_has_its_jobs served
t server_of_an_allocation_has_its_nodes served_nodes
t server_of_an_allocation_takes_attributes served_attributes
t engine_of_a_server_ends_in_order served_kills
t launcher_is_chosen chosen
t other_options_are_refused_by_name refused
t other_arguments_are_refused refused_arguments
suite_end
