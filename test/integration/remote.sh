#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tools on another machine: server and tools have a network namespace each, and share a daemon of MUNGE. The
# server or the tools may have Debian's library.
. "$(dirname "$0")/lib.sh"
suite_begin remote "$@"
NET=10.211.7

in_net() { nsenter --target "${NODE[$1]}" --net -- "${@:2}"; } # in_net 0|1 COMMAND...
has_net() { [ "$(readlink "/proc/${NODE[$1]}/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

begin_networks() {
    local i
    NODE=()
    for i in 0 1; do
        in_case unshare --net -- sleep 600 </dev/null &
        NODE[i]=$!
        until_true 10 has_net $i || fail "no network $i"
    done
    in_net 0 ip link add eth0 type veth peer name eth0 netns "${NODE[1]}" || skip "needs the right to make an interface"
    for i in 0 1; do
        in_net $i ip link set lo up
        in_net $i ip address add $NET.$((i + 1))/24 dev eth0
        in_net $i ip link set eth0 up
    done
}

# The daemon has its usual socket, which Debian's library uses.
begin() {
    local rc=0
    has munged && has munge || skip "needs munge"
    [ "${TENON_PRIVATE_SHM:-}" = yes ] && has ip && has nsenter || skip "needs root, mounts of its own and ip"
    [ -f "$LIBDIR/pmix/pmix_mca_tenon_psec_munge.so" ] || skip "built without libmunge"
    mount -t tmpfs tmpfs /run
    NODE=() DAEMON=
    trap 'kill -CONT $DAEMON; kill "${NODE[@]}" $DAEMON; wait "${NODE[@]}" $DAEMON; umount /run' EXIT
    start_munged /run/munge || rc=$?
    [ $rc = 0 ] || fail "munged: $(tail -1 /run/munge/out /run/munge/log)"
    ln -s socket /run/munge/munge.socket.2
    begin_networks
}

# serve [by LIBRARY] ATTRIBUTE...: starts a server in the first network; URI is its reported address
serve() {
    local by=ours
    [ "$1" != by ] || { by=$2 && shift 2; }
    mkfifo "$TMPDIR/in"
    (PMIX_MCA_server_report_uri=$TMPDIR/uri PMIX_MCA_ptl_base_report_uri=$TMPDIR/uri LD_LIBRARY_PATH=$(folder "$by") \
        in_case nsenter --target "${NODE[0]}" --net -- "$(program "$by" tool_host)" serving "$@") \
        <"$TMPDIR/in" >"$TMPDIR/server" 2>"$TMPDIR/server.err" &
    SERVER=$!
    exec {ORDERS}>"$TMPDIR/in"
    await_lines 1 '^ready' "$TMPDIR/server"
    URI=$(head -1 "$TMPDIR/uri")
}
end_server() {
    exec {ORDERS}>&-
    await "$SERVER" 20
    same 0 "$RC" "exit status of the server"
    rm -f "$TMPDIR"/{in,server,server.err}
}

# tool LIBRARY NETWORK [COMMAND...]: runs a tool that connects to URI
tool() {
    LD_LIBRARY_PATH=$(folder "$1") PMIX_MCA_ptl_tcp_remote=true run 60 nsenter --target "${NODE[$2]}" --net -- "${@:3}" \
        "$(program "$1" client)" tool uri "$URI" >"$OUT" 2>"$ERR"
}
comes() {
    tool "$@" || fail "$*: $(cat "$OUT" "$ERR" "$TMPDIR/server.err")"
    lines 1 '^OK tool$' "$OUT"
}
refused() { # refused REASON ARGUMENT-OF-TOOL...
    tool "${@:2}" && fail "a tool was admitted: ${*:2}"
    lines 1 '^INIT ' "$OUT"
    until_true 20 grep -q "connection refused: .*$1" "$TMPDIR/server.err" || fail "not refused by: $1"
}

# Of the server's user. The tools are on the other machine, and on this one with the same address.
proved() { # proved LIBRARY
    [ "$1" = ours ] || use_debian_here
    begin
    serve tool remote
    lines 1 "^serving\\.0;tcp4://$NET\\.1:[0-9]+\$" "$TMPDIR/uri"
    comes "$1" 1
    comes "$1" 1
    comes "$1" 0
    lines 3 '^uid of-tool 0$' "$TMPDIR/server"
    end_server
}
# A server of Debian's library admits our tool: by its credential, and in the second try where the server has no MUNGE.
theirs() { # theirs TRIES [COMPONENTS]
    use_debian_here
    begin
    if [ $# -gt 1 ]; then PMIX_MCA_psec=$2 serve by debian tool remote; else serve by debian tool remote; fi
    lines 1 "^serving[.][0-9]+;tcp4://$NET\\.1:[0-9]+\$" "$TMPDIR/uri"
    comes ours 1 env PMIX_MCA_mca_base_verbose=info
    lines $(($1 - 1)) 'closed the connection of a tool with a credential' "$ERR"
    lines "$1" '^tool ' "$TMPDIR/server"
    end_server
}
# The site chooses the address: by a network, and by a version of IP.
chosen() {
    begin
    for i in 0 1; do
        in_net $i ip address add 10.212.7.$((i + 1))/24 dev eth0
        in_net $i ip address add fd00:7::$((i + 1))/64 dev eth0 nodad
    done
    PMIX_MCA_ptl_tcp_interfaces=lo,10.212.0.0/16 serve tool remote
    lines 1 '^serving\.0;tcp4://10\.212\.7\.1:[0-9]+$' "$TMPDIR/uri"
    comes ours 1
    end_server
    PMIX_MCA_ptl_tcp_no_ipv4=true PMIX_MCA_ptl_tcp_port_v6=7117 serve tool remote
    lines 1 '^serving\.0;tcp6://\[fd00:7::1\]:7117$' "$TMPDIR/uri"
    comes ours 1
    end_server
}
use_debian_here() {
    use_debian
    trap - EXIT
}

unproved() { # without a credential, or with one of another user
    need_other
    begin
    serve tool remote
    refused 'psec/native does not prove' ours 1 env PMIX_MCA_psec=native
    refused 'tools of other users' ours 1 "${OTHER[@]}"
    comes ours 1
    end_server
    serve tool remote foreign
    comes ours 1 "${OTHER[@]}"
    lines 1 '^uid of-tool 12345$' "$TMPDIR/server"
    end_server
}

hangs() { # the daemon does not answer for a time
    begin
    serve tool remote
    kill -STOP "$DAEMON"
    tool ours 1 env PMIX_MCA_client_connect_timeout=1s && fail "a tool was admitted"
    lines 1 '^INIT ' "$OUT"
    grep -q 'cannot make a credential with psec/munge: TIMEOUT' "$ERR" || fail "no word of the daemon"
    kill -CONT "$DAEMON"
    comes ours 1
    end_server
}

absent() { # without MUNGE the server listens at the loopback interface only
    begin
    rm /run/munge/munge.socket.2
    serve tool remote
    lines 1 '^serving\.0;tcp4://127\.0\.0\.1:[0-9]+$' "$TMPDIR/uri"
    lines 1 'cannot admit tools on other machines: psec/munge cannot be used: ' "$TMPDIR/server.err"
    comes ours 0
    end_server
}

t a_tool_on_another_machine_is_admitted_by_its_credential proved ours
t a_tool_of_debian_on_another_machine_is_admitted with_tool debian proved debian
t a_server_of_debian_on_another_machine_admits_our_tool with_tool debian theirs 1
t a_server_of_debian_without_munge_admits_our_tool with_tool debian theirs 2 native
t the_site_chooses_the_address chosen
t without_a_credential_of_the_servers_user_a_tool_is_refused unproved
t a_daemon_that_hangs_ends_the_connection hangs
t without_a_daemon_only_this_machine_is_served absent
suite_end
