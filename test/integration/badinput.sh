#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Bad input: mistakes on the command line, files that are not components, and strangers that connect to
# the server. Each gives one clear line, changes nothing, and leaves no files.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin badinput "$@"

# ---- the command line -----------------------------------------------------------------------

# refused REGEX ARGS...: expects that pmixrun fails, with one line that matches
refused() {
    local rc=0 regex=$1
    shift
    run 30 "$PMIXRUN" "$@" >"$OUT" 2>"$ERR" || rc=$?
    [[ $rc != @(0|124|134|139) ]] || fail "exit status $rc"
    same 1 "$(wc -l <"$ERR")" "lines on stderr: $(head -3 "$ERR")"
    lines 1 "$regex" "$ERR"
    same 0 "$(wc -c <"$OUT")" "bytes on stdout"
}

not_executable() {
    echo 'not a program' >"$TMP/plain"
    chmod 644 "$TMP/plain"
    refused "$TMP/plain: it is not executable" -n 2 "$TMP/plain"
    refused "$TMP: it is a directory" -n 2 "$TMP"
    chmod 755 "$TMP/plain"
    refused "$TMP/plain: Exec format error" -n 2 "$TMP/plain"
}

partly_missing() { # a job that starts only in part is ended
    refused 'no-such-program' -n 2 sleep 20 : -n 1 "$TMP/no-such-program"
}

# ---- components -------------------------------------------------------------------------------

# Makes a folder with all components. FILE is the name of one more component.
component_folder() {
    [ -n "$(find "$LIBDIR/pmix" -name 'pmix_mca_tenon_ptl_*.so' 2>/dev/null)" ] || skip "all components are built in"
    mkdir -p "$TMPDIR/pmix"
    cp "$LIBDIR"/pmix/pmix_*.so "$TMPDIR/pmix/"
    chmod 755 "$TMPDIR/pmix"
    WITH=(--mca mca_base_component_path "$TMPDIR/pmix")
    FILE=$TMPDIR/pmix/pmix_mca_tenon_ptl_$1.so
}

# Expects an error for a selected bad component. Otherwise expects a warning, and the job runs.
bad_component() { # bad_component NAME REGEX
    refused "$2" "${WITH[@]}" --mca ptl "$1" -n 1 true
    well "$PMIXRUN" "${WITH[@]}" -n 1 true
    lines 0 . "$ERR"
    # The parameter shows load errors.
    well "$PMIXRUN" "${WITH[@]}" --mca mca_base_component_show_load_errors all -n 1 true
    lines 1 . "$ERR"
    lines 1 "$2" "$ERR"
    rm -r "$TMPDIR/pmix"
}

not_elf() { # not_elf CONTENT
    component_folder text
    printf %s "$1" >"$FILE"
    bad_component text "$FILE: (invalid ELF header|file too short)"
}

no_symbol() {
    component_folder other
    cp "$LIBDIR/pmix/pmix_mca_tenon_gds_hash.so" "$FILE"
    bad_component other 'pmix_mca_tenon_ptl_other.so has no symbol px_ptl_other_component'
}

wrong_abi() { # wrong_abi DEFINITION REGEX
    component_folder later
    "${COMPILER[@]}" -std=gnu11 -D_GNU_SOURCE -shared -fPIC -I"$SOURCE/include" \
        -I"$BUILD/include" "-D$1" -o "$FILE" "$HERE/host/wrong_abi.c" || fail "cannot compile host/wrong_abi.c"
    bad_component later "pmix_mca_tenon_ptl_later.so has $2 99, wanted [0-9]+"
}

# ---- strangers ----------------------------------------------------------------------------------

PYTHON=/usr/bin/python3 # rather than one that other users cannot run
[ -x $PYTHON ] || PYTHON=$(command -v python3 || true)

stop_server() { # expects a normal end after TERM
    kill -TERM "$SERVER"
    await "$SERVER" 15
    same 143 "$RC" "exit status of the server"
}

# Starts a job whose only rank writes its environment into a file.
start_server() { # start_server [LAUNCHER...]
    ENVIRON=$TMPDIR/environ
    start "$@" "$PMIXRUN" -n 1 sh -c 'cat /proc/$$/environ >"$0.new" && mv "$0.new" "$0" && exec sleep 300' "$ENVIRON"
    SERVER=$PID
    until_true 10 eval 'test -s "$ENVIRON" || ! kill -0 "$SERVER"' || true
    [ -s "$ENVIRON" ] || fail "the server does not start"
    chmod 644 "$ENVIRON"
    cp "$HERE/stranger.py" "$SOURCE/test/lib/px_wire.py" "$TMP"
    chmod 755 "$TMP/stranger.py" "$TMP/px_wire.py"
}

stranger() { # stranger ATTACK [LAUNCHER...]
    local attack=$1
    shift
    timeout -k 5 60 "$@" "$PYTHON" "$TMP/stranger.py" "$ENVIRON" "$attack"
}

# Expects that the server still serves a client of our library in place of the rank.
still_serves() {
    local vars=() v
    kill -0 "$SERVER" 2>/dev/null || fail "the server has ended"
    stranger good_client || fail "a good client is not welcome any more"
    while IFS= read -r -d '' v; do
        case $v in PMIX_* | TENON_*) vars+=("$v") ;; esac
    done <"$ENVIRON"
    run 30 env "${vars[@]}" "$CLIENT" exchange >"$OUT.client" 2>"$ERR.client" ||
        fail "a client of ours is not served any more: $(head -1 "$ERR.client")"
}

# The server's stderr is a full pipe without a reader.
unread_log() {
    [ -n "$PYTHON" ] || skip "no python3"
    mkfifo "$TMPDIR/log"
    exec 9<>"$TMPDIR/log"
    dd if=/dev/zero of="$TMPDIR/log" oflag=nonblock bs=4096 count=64 2>"$ERR.dd" || true
    # shellcheck disable=SC2016
    start_server sh -c 'exec "$@" 2>&9' sh
    for _ in 1 2 3; do stranger garbage || fail "garbage: not answered as it should be"; done
    still_serves
    head -c 65536 <&9 >"$ERR.dd"
    stranger garbage || fail "garbage: not answered as it should be"
    stop_server
    exec 9>&-
    rm -f "$TMPDIR/log" "$ENVIRON" "$TMP/stranger.py" "$TMP/px_wire.py" "$ERR.dd"
}

attack() { # attack NAME MIN_LINES MAX_LINES REGEX [LAUNCHER...]
    local name=$1 min=$2 max=$3 regex=$4 n
    shift 4
    [ -n "$PYTHON" ] || skip "no python3"
    start_server
    still_serves
    lines 0 . "$ERR"
    stranger "$name" "$@" || fail "$name: not answered as it should be"
    until_true 5 eval '[ "$(wc -l <"$ERR")" -ge "$min" ]' || true
    n=$(wc -l <"$ERR")
    ((n >= min && n <= max)) || fail "$n lines are logged, not $min to $max: $(head -1 "$ERR")"
    lines "$n" "$regex" "$ERR"
    still_serves
    stop_server
    rm -f "$ENVIRON"
}

as_other() { # as_other NAME MIN MAX REGEX
    need_other
    attack "$@" "${OTHER[@]}"
}

R='connection refused: '
t program_not_found refused 'no-such-program: .*(not found|No such file)' -n 2 no-such-program
t program_not_found_by_path refused "$TMP/no-such: .*(not found|No such file)" -n 2 "$TMP/no-such"
t program_not_executable not_executable
t program_missing_in_a_part partly_missing
t no_program refused '[Pp]rogram'
t no_program_after_options refused '[Pp]rogram' -n 2
t no_program_after_a_colon refused '[Pp]rogram' -n 1 true :
t count_0 refused '-n.*0' -n 0 true
t count_negative refused '-n.*-1' -n -1 true
t count_no_number refused '-n.*x' -n x true
t count_with_a_tail refused '-n.*2x' -n 2x true
t count_too_large refused '-n.*99999999999' -n 99999999999 true
t count_missing refused '-n' -n
t option_unknown refused '--frobnicate' --frobnicate true
t option_short_unknown refused '-Z' -Z true
t mca_value_missing refused '--mca' --mca ptl
t mca_unknown_component refused 'ptl = "nonesuch": unknown component nonesuch; using the default: .*tcp.*usock' --mca mca_base_strict error --mca ptl nonesuch -n 1 true
t mca_unknown_protection refused 'unknown component sasl for framework psec, known: ' --mca psec sasl -n 1 true
t mca_bad_list refused 'PMIX_MCA_ptl|ptl = "tcp,.usock": expected a list' --mca mca_base_strict error --mca ptl 'tcp,^usock' -n 1 true
t mca_bad_value refused 'ptl_tcp_port_min.*many' --mca mca_base_strict error --mca ptl_tcp_port_min many -n 1 true
t mca_pattern refused "forward_envars = \"A\*B\": '\*' stands for" --mca mca_base_strict error --mca forward_envars 'A*B' -n 1 true
t mca_ports refused 'pnet_ports_tcp = "9-x": expected a port' --mca mca_base_strict error --mca pnet_ports_tcp 9-x -n 1 true
t mca_component_path_relative refused 'mca_base_component_path.*here' --mca mca_base_component_path here -n 1 true
t wdir_missing refused '/no/such/folder' --wdir /no/such/folder -n 1 true
t timeout_no_number refused '--timeout.*soon' --timeout soon true
t export_without_a_name refused '-x' -x =value true
t component_not_an_ELF not_elf 'no shared object'
t component_empty not_elf ''
t component_without_descriptor no_symbol
t component_with_wrong_component_ABI wrong_abi WRONG_COMPONENT_ABI=99 'component ABI'
t component_with_wrong_framework_ABI wrong_abi WRONG_PTL_ABI=99 'ptl ABI'
t stranger_with_wrong_namespace attack wrong_nspace 1 1 "${R}nobodys-job\.0 .*no such namespace"
t stranger_with_empty_namespace attack empty_nspace 1 1 "$R"
t stranger_with_long_namespace attack long_nspace 1 1 "$R"
t stranger_with_wrong_rank attack wrong_rank 1 1 "$R.*\.4711 .*no such rank"
t stranger_with_wild_rank attack wild_rank 1 1 "$R"
t stranger_with_wrong_uid as_other wrong_uid 2 2 "$R.*uid 12345, expected 0"
t stranger_before_a_closed_door as_other closed_door 0 0 .
t stranger_with_false_credential attack lying_credential 1 1 "$R.*credential"
t stranger_with_unknown_security attack wrong_module 1 1 "$R.*open-sesame"
t stranger_with_unknown_dialect attack wrong_dialect 1 1 "$R.*v99"
t stranger_with_unknown_role attack wrong_role 1 1 "$R"
t stranger_with_garbage attack garbage 2 2 "$R"
t strangers_while_the_log_has_no_reader unread_log
t stranger_with_http attack text 1 1 "$R"
t stranger_with_giant_length attack giant_length 1 1 "$R"
t stranger_with_no_length attack zero_length 1 1 "$R"
t stranger_with_giant_credential attack giant_credential 1 1 "$R"
t stranger_with_unterminated_text attack unterminated 1 1 "$R"
t stranger_that_disconnects attack cut_short 0 4 'connection'
t stranger_one_byte_at_a_time attack one_byte_at_a_time 0 0 .
t stranger_that_sends_nothing attack sends_nothing 1 1 'connection dropped'
t stranger_five_hundred_times attack half_open 0 500 'connection'
t client_with_giant_frame attack giant_frame 0 1 .
t client_with_unknown_request attack unknown_request 0 1 .
t client_with_random_requests attack random_requests 0 200 .
t client_with_cut_requests attack cut_requests 0 200 .
t client_with_empty_request attack empty_request 0 1 .
suite_end
