#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Credentials of a real daemon of MUNGE, with a key and a socket of its own. Its programs make and validate
# credentials, too, and clients have our library or Debian's.
. "$(dirname "$0")/lib.sh"
suite_begin munge "$@"
COMPONENT=$LIBDIR/pmix/pmix_mca_tenon_psec_munge.so

# Starts munged for this case. DAEMON is its pid.
begin_munge() {
    has munged && has munge && has unmunge || skip "needs munge"
    [ -f "$COMPONENT" ] || skip "built without libmunge"
    M=$TMPDIR/munge
    local rc=0
    start_munged "$M" || rc=$?
    trap 'kill -CONT $DAEMON; kill $DAEMON; wait $DAEMON; rm -rf "$M"' EXIT
    [ $rc = 0 ] || fail "munged: $(tail -1 "$M/out" "$M/log")"
}

# credential HEADERS make|check TYPE FILE [SECONDS]: the status and the user are in OUT
credential() {
    well "$PMIXRUN" --mca psec_munge_socket "$SOCKET" -n 1 -x "LD_LIBRARY_PATH=$(folder "$1")" \
        "$(program "$1" client)" credential "${@:2}"
}
status_is() { lines 1 "^status $1\$" "$OUT"; } # status_is NUMBER
is_this_user() { lines 1 "^user $(id -u) group $(id -g) type munge\$" "$OUT"; }

made_here() { # made_here HEADERS: unmunge validates our credential, once
    [ "$1" = ours ] || use_debian
    begin_munge
    credential "$1" make munge "$M/cred"
    status_is 0
    unmunge --socket="$SOCKET" --input="$M/cred" --output=/dev/null --metadata="$M/data" || fail "unmunge refuses the credential"
    lines 1 "^UID: .*\\($(id -u)\\)\$" "$M/data"
    credential "$1" make munge "$M/cred"
    credential "$1" check munge "$M/cred"
    status_is 0
    is_this_user
    credential "$1" check munge "$M/cred"
    status_is -12 # PMIX_ERR_INVALID_CRED: it was used
}

made_there() { # made_there HEADERS: we validate munge's credential
    [ "$1" = ours ] || use_debian
    begin_munge
    munge --no-input --socket="$SOCKET" --output="$M/cred"
    credential "$1" check munge,native "$M/cred"
    status_is 0
    is_this_user
    echo "MUNGE:AAAA:" >"$M/cred"
    credential "$1" check munge "$M/cred"
    status_is -12
}

hangs() { # the server ends the wait, and goes on
    begin_munge
    kill -STOP "$DAEMON"
    credential ours make munge "$M/cred" 1
    status_is -24 # PMIX_ERR_TIMEOUT
    well "$PMIXRUN" --mca psec_munge_socket "$SOCKET" --mca server_service_timeout 1s -n 1 "$CLIENT" credential make munge "$M/cred"
    status_is -24
    kill -CONT "$DAEMON"
    credential ours make munge "$M/cred"
    status_is 0
}

absent() { # without a daemon its type is refused, and other types serve
    begin_munge
    SOCKET=$M/none
    credential ours make munge "$M/cred"
    status_is -47 # PMIX_ERR_NOT_SUPPORTED
    credential ours make munge,native "$M/cred"
    status_is 0
}

# A tool of Debian's library names MUNGE if the daemon has its usual socket.
tool_names_munge() {
    local go=$TMPDIR/go
    use_debian
    [ "${TENON_PRIVATE_SHM:-}" = yes ] || skip "needs root and mounts of its own"
    begin_munge
    mount -t tmpfs tmpfs /run && mkdir /run/munge && ln -s "$SOCKET" /run/munge/munge.socket.2
    munge --no-input --output=/dev/null || fail "the daemon does not answer"
    # shellcheck disable=SC2016
    start "$PMIXRUN" --tools -n 1 sh -c 'echo up; while ! test -f "$0"; do sleep 0.05; done' "$go"
    await_lines 1 '^up$'
    LD_LIBRARY_PATH=$DEBIAN_DIR run 60 "$(program debian client)" tool pid "$PID" >"$OUT.tool" 2>"$ERR.tool" || RC=1
    umount /run
    touch "$go"
    await "$PID" 20
    lines 1 '^OK tool$' "$OUT.tool"
    rm "$go"
}

contract() {
    begin_munge
    run 120 "$BUILD/test/contract/pmix_component_check" "$COMPONENT" "socket=$SOCKET" >"$OUT" 2>"$ERR" ||
        fail "$(grep ^fail "$OUT" | tail -1)"
    lines 1 '^pass an_issued_credential_proves_its_user$' "$OUT"
}

t credentials_are_those_of_munge made_here ours
t credentials_for_debian_clients_are_those_of_munge made_here debian
t credentials_of_munge_are_validated made_there ours
t credentials_of_munge_are_validated_for_debian_clients made_there debian
t a_daemon_that_hangs_costs_its_time_limit hangs
t without_a_daemon_the_type_is_refused absent
t a_tool_of_debian_that_names_munge_is_admitted with_tool debian tool_names_munge
[ ${#ONLY[@]} = 0 ] || t the_component_keeps_its_contract contract # a test of its own
suite_end
