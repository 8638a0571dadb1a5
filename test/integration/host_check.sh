#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# pmix_host_check under several hosts and on both libraries, and the example host.
. "$(dirname "$0")/lib.sh"
suite_begin host_check "$@"

CHECK=$BUILD/contrib/tools/pmix_host_check MINIHOST=$BUILD/contrib/examples/minihost
HELLO=$BUILD/contrib/examples/hello

# row NAME STANDARD ANSWER: the row of a request; ANSWER is a regular expression
row() {
    grep -qE "^$1 +$2 +$3\$" "$OUT" || fail "row '$1': '$(grep -E "^$1  " "$OUT" | head -1)', expected '$2 $3'"
}

# table COMMAND...: of a host; whatever is lacking makes the exit status 1
table() {
    local rc=0
    run 90 "$@" >"$OUT" 2>"$ERR" || rc=$?
    [ $rc -le 1 ] || fail "exit status $rc: $(tail -1 "$ERR")"
    lines 1 '^[0-9]+ served, [0-9]+ not supported, [0-9]+ errors, [0-9]+ wrong, [0-9]+ without an answer, [0-9]+ not tried; [0-9]+ rows lack ' "$OUT"
    row 'PMIx_Fence' shall served
    row 'PMIx_Fence, PMIX_COLLECT_DATA' shall served
    row 'PMIx_Get, missing key, PMIX_TIMEOUT' shall 'served: .*'
    row 'PMIX_JOB_SIZE' shall "given: $N"
}

built_in() { # built_in LIBRARY OF THE PROCESSES
    local name
    [ "$1" = ours ] || need_debian_lib
    N=3 table env "LD_LIBRARY_PATH=$LIBDIR" "$PMIXRUN" -n 3 env "LD_LIBRARY_PATH=$(folder "$1")" "$CHECK"
    for name in PMIx_Publish PMIx_Lookup 'PMIx_Lookup, PMIX_WAIT' PMIx_Unpublish 'PMIx_Lookup, after PMIx_Unpublish' \
        PMIx_Connect PMIx_Disconnect PMIx_Spawn 'PMIx_Query_info, PMIX_QUERY_PROC_TABLE' 'PMIx_Log, PMIX_LOG_STDERR' \
        'PMIx_IOF_pull, PMIx_IOF_deregister' 'PMIx_Job_control, PMIX_JOB_CTRL_SIGNAL'; do
        row "$name" may served
    done
    for name in 'PMIx_Get, before a fence' 'PMIx_Fence, unknown required attribute' 'PMIx_Spawn, unknown required attribute' \
        'PMIx_Notify_event, PMIX_RANGE_NAMESPACE'; do
        row "$name" shall served
    done
    row PMIX_JOBID shall 'given: .*'
    lines 1 '^pmix_host_check: this line is logged$' "$ERR"
    [ "$1" = debian ] || lines 1 ', 0 errors, 0 wrong, 0 without an answer, 0 not tried; ' "$OUT"
}

example() { # the hosts of two nodes, with one thread each
    well "$MINIHOST" 2 "$HELLO"
    lines 4 '^hello from rank [0-3] of 4 in job minihost$' "$OUT"
    well "$MINIHOST" 2 "$MODEX"
    rc_of 3 run 60 "$MINIHOST" 1 sh -c 'exit 3'
    well "$MINIHOST" 1 sh -c 'ls /proc/$PPID/task'
    same 2 "$(sort -u "$OUT" | wc -l)" "threads of two hosts"
    N=4 table "$MINIHOST" 2 "$CHECK"
    row 'PMIx_Resolve_peers, PMIx_Resolve_nodes' shall 'error: NOT-FOUND' # minihost gives no map of nodes
    row 'PMIx_Fence, unknown required attribute' shall served
    row PMIx_Publish may 'not supported'
    row 'PMIx_Get, before a fence' shall 'error: NOT-FOUND' # minihost has no direct_modex
    row PMIx_Spawn may served
    row 'PMIx_Spawn, unknown required attribute' shall served
}

# The mpirun of Open MPI 4 waits for itself, for ever, when it is to pass on an event of a process.
waits_for_itself() { # waits_for_itself LIBRARY OF THE PROCESSES
    mpirun.openmpi --version 2>/dev/null | grep -q ' 4\.' || skip "Debian's Open MPI 4 is not installed"
    need_debian_lib
    trap 'rm -rf "$TMPDIR"/ompi.* "$TMPDIR"/pmix*' EXIT
    LD_LIBRARY_PATH=$(folder debian) start mpirun.openmpi -n 2 env "LD_LIBRARY_PATH=$(folder "$1")" "$CHECK" --timeout 1
    until_true 40 grep -q 'job has been aborted' "$ERR" || fail "no end: $(tail -1 "$ERR")"
    kill -9 "$PID"
    await "$PID" 5
    row 'PMIx_Get, before a fence' shall served
    row PMIx_Publish may served
    row 'PMIx_Notify_event, PMIX_RANGE_NAMESPACE' shall '(error: TIMEOUT|no answer)'
    row PMIx_Spawn may 'not tried'
    row PMIX_JOB_SIZE shall 'given: 2'
    lines 1 '^The results are those of rank 0 alone\.$' "$OUT"
}

only_what_lacks() {
    local rc=0
    run 60 "$MINIHOST" 1 "$CHECK" --wanted --timeout 5 >"$OUT" 2>"$ERR" || rc=$?
    same 1 "$rc" "exit status"
    lines 0 '^PMIx_Fence ' "$OUT"
    row PMIX_NSDIR shall missing
    lines 0 ' may ' "$OUT"
}

alone() {
    rc_of 1 run 30 "$CHECK" >"$OUT" 2>"$ERR"
    lines 1 '^pmix_host_check: cannot connect to a host: ' "$ERR"
    rc_of 1 run 30 "$PMIXRUN" -n 1 "$CHECK" >"$OUT" 2>"$ERR"
    lines 1 '^pmix_host_check: needs at least two processes' "$ERR"
    rc_of 2 run 30 "$CHECK" --timeout 0 2>"$ERR"
    rc_of 2 run 30 "$CHECK" --unknown 2>"$ERR"
    well "$CHECK" --version
    lines 1 '^pmix_host_check, ' "$OUT"
    well "$CHECK" --help
}

# A process that never takes part: the program ends in time, and names the request.
silent() {
    rc_of 1 run 60 "$PMIXRUN" -n 2 sh -c \
        'if [ $PMIX_RANK = 1 ]; then trap "" TERM; exec sleep 30; fi; exec "$0" --timeout 1' "$CHECK" >"$OUT" 2>"$ERR"
    lines 1 '^pmix_host_check: no answer to PMIx_Init in time$' "$ERR"
}

# A host with functions that never answer: their rows are "no answer", and the other rows are tried.
host_is_silent() {
    MINIHOST_SILENT=some rc_of 1 run 60 "$PROGRAMS/minihost" 2 "$CHECK" --timeout 1 >"$OUT" 2>"$ERR"
    row PMIx_Publish may 'no answer'
    row PMIx_Spawn may 'no answer'
    row 'PMIx_Fence' shall served
    row 'PMIX_JOB_SIZE' shall 'given: 2'
    lines 1 ', [45] without an answer, 0 not tried; ' "$OUT"
}

# A host that stops altogether: rank 0 prints the rows before, and the program ends.
host_stops() {
    MINIHOST_SILENT=all start "$PROGRAMS/minihost" 2 "$CHECK" --timeout 1
    until_true 30 grep -q 'lack what the Standard' "$OUT" || fail "no table: $(tail -1 "$ERR")"
    kill -CONT "$PID"
    await "$PID" 20
    same 1 "$RC" "exit status"
    row 'PMIx_Fence' shall served
    row PMIx_Spawn may 'no answer'
    row 'PMIx_Job_control, PMIX_JOB_CTRL_SIGNAL' may 'not tried'
    row PMIX_JOB_SIZE shall 'given: 2'
    lines 1 '^The results are those of rank 0 alone\.$' "$OUT"
    lines 2 '^pmix_host_check: cannot fence after "PMIx_Spawn": no answer; no other request can be tried$' "$ERR"
}

symbols() { # the program runs on OpenPMIx 4.2
    need_debian_lib
    has nm || skip "binutils is not installed"
    nm -D --undefined-only "$CHECK" | sed -n 's/.* \(PMIx_[A-Za-z_]*\).*/\1/p' | sort -u >"$TMPDIR/ours"
    nm -D --defined-only "$DEBIAN_LIB" | awk '{ print $3 }' | sort -u >"$TMPDIR/theirs"
    same '' "$(comm -23 "$TMPDIR/ours" "$TMPDIR/theirs")" "functions that Debian's library lacks"
    rm "$TMPDIR"/{ours,theirs}
}

for lib in ours debian; do
    t "built_in_host_with_${lib}_library_in_processes" built_in $lib
done
t mpirun_that_waits_for_itself_with_ours_library_in_processes waits_for_itself ours
wide t mpirun_that_waits_for_itself_with_debian_library_in_processes waits_for_itself debian
t example_host example
t only_rows_that_lack_something only_what_lacks
t without_a_host_or_a_partner alone
t request_without_an_answer_ends_the_program silent
t functions_that_never_answer_are_rows_of_the_table host_is_silent
t host_that_stops_does_not_stop_the_program host_stops
t functions_of_other_libraries symbols
suite_end
