#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Self-test of lib.sh. Each case runs a small suite with one error, and expects that lib.sh reports
# the error.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin harness "$@"

# suite REGEX STATUS BODY: runs a suite of one case that does BODY
suite() {
    local rc=0
    printf '%s\n' ". '$HERE/lib.sh'" 'suite_begin inner "$@"' "body() { $3" '}' 't inner body' \
        suite_end >"$TMP/inner.sh"
    TENON_PRIVATE_SHM='' LITTER=tenon.litter.harness.$$ run 60 bash "$TMP/inner.sh" >"$OUT" 2>"$ERR" || rc=$?
    lines 1 "$1" "$OUT"
    same "$2" "$rc" "exit status of the suite"
    rm -f /dev/shm/tenon.litter.harness.$$ # a name that other scripts ignore
    same 1 "$(grep -cE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$OUT")" "lines that sum up"
}

fails() { suite "^FAIL inner: .*$1" 1 "$2"; }

t good_case_passes suite '^PASS inner' 0 'run 5 true'
t good_job_passes suite '^PASS inner' 0 'run 30 "$PMIXRUN" -n 2 "$CLIENT" exchange
    used 1 pmixrun "$OUR_LIB" 2 client "$OUR_LIB"'
t skipping_alone_is_no_success suite '^SKIP inner: why' 77 'skip why'
t failed_command_is_a_failure fails 'exit status 1' 'false; true'
t missing_program_is_a_failure fails 'exit status 127' 'run 5 /no/such/program; true'
t failure_in_a_pipe_is_a_failure fails 'exit status 3' '(exit 3) | cat; true'
t deadline_is_a_failure fails 'exit status 124' 'run 1 sleep 20'
t deadline_in_the_background_is_a_failure fails 'still running after 1 s' 'start sleep 20; await $PID 1'
t wrong_status_is_a_failure fails 'exit status 1, expected 0' 'rc_of 0 false'
t missing_line_is_a_failure fails '0 lines match' 'echo a >"$OUT"; lines 1 "^b" "$OUT"'
t process_left_is_a_failure fails 'left behind: process [0-9]+ .sleep 50' 'start sleep 50'
t daemon_left_is_a_failure fails 'left behind: process [0-9]+ .sleep 50' 'run 5 sh -c "setsid sleep 50 & true"'
t file_left_is_a_failure fails 'left behind: .*/forgotten' 'touch "$TMPDIR/forgotten"'
t shared_memory_left_is_a_failure fails 'left behind: /dev/shm/tenon' 'touch "/dev/shm/$LITTER"'
t socket_left_is_a_failure fails 'left behind: process' 'start "$PMIXRUN" sleep 50; sleep 0.5'
t library_of_another_place_is_a_failure fails 'used .*, not /' 'run 30 "$PMIXRUN" "$CLIENT" exchange; used 1 pmixrun "$OUR_LIB" 1 client /bin/sh'
t library_not_used_is_a_failure fails '0 processes of client used' 'run 30 "$PMIXRUN" true; used 1 pmixrun "$OUR_LIB" 1 client "$OUR_LIB"'
t library_not_asked_for_is_a_failure fails 'was not expected' 'run 30 "$PMIXRUN" "$CLIENT" exchange; used 1 client "$OUR_LIB"'
[ -z "$SANITIZE" ] || t leak_at_exit_is_a_failure fails 'exit status 1:' 'run 30 "$PMIXRUN" "$CLIENT" leak'
suite_end
