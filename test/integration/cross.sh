#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# All combinations of headers, libraries and servers of Debian's and ours. Client programs are compiled with each
# headers, and run with each library and under each server.
. "$(dirname "$0")/lib.sh"
suite_begin cross "$@"

RANKS=$(times 2 3)
PROGRAMS_OF_A_JOB=(exchange direct publish events late limits resolve connect threads)
export HOST_NOTIFY_AT_ONCE=1

# launch SERVER HEADERS LIBRARY NAME ARGS...: a job of RANKS. The server is pmixrun, or our small host on
# either library: compiled with Debian's headers, or with ours, whose module is longer.
launch() {
    local server=$1 client lib
    client=$(program "$2" client) lib=$(folder "$3")
    shift 3
    case $server in
        pmixrun) set -- "$PMIXRUN" -n "$RANKS" -x "LD_LIBRARY_PATH=$lib" "$client" "$@" ;;
        host_on_*) set -- "$(program debian minihost)" "$RANKS" "$client" "$@" ;;
        our_host_on_*) set -- "$PROGRAMS/minihost" "$RANKS" "$client" "$@" ;;
    esac
    HOST_CLIENT_LIBRARY=$lib LD_LIBRARY_PATH=$(folder "$(lib_of "$server")") run "$(times 60 300)" "$@" >"$OUT" 2>"$ERR"
}

lib_of() { case $1 in *_on_debian) echo debian ;; *) echo ours ;; esac; }

# job SERVER HEADERS LIBRARY NAME ARGS...: expects success, and the right libraries in all processes
job() {
    launch "$@" || fail "$4: exit status $?: $(tail -1 "$ERR")"
    lines "$RANKS" "^OK $4 [0-9]+\$" "$OUT"
    used 1 "${1/*host*/minihost}" "$(library "$(lib_of "$1")")" "$RANKS" client "$(library "$3")"
    rm -f "$RECORD"/*
}

pair() { # pair SERVER HEADERS LIBRARY
    local name
    use_debian
    [ "$1$3" != pmixrunours ] || export STRICT=1
    for name in "${PROGRAMS_OF_A_JOB[@]}"; do job "$@" "$name"; done
    [ "$1" != pmixrun ] || job "$@" ranges
}

# Groups of ranks at our server, and many of them one after the other.
grouped() { # grouped HEADERS LIBRARY
    local RANKS=4
    use_debian
    [ "$2" != ours ] || export STRICT=1
    job pmixrun "$1" "$2" groups
    job pmixrun "$1" "$2" group_values
    job pmixrun "$1" "$2" group_cycles "$(times 20 500)"
}

# Groups by invitation.
invited() {
    local RANKS=3 p
    STRICT=1 job pmixrun ours ours invitations
    RANKS=4 STRICT=1 job pmixrun ours ours lies
    use_debian
    # shellcheck disable=SC2016
    well "$PMIXRUN" -n 3 sh -c 'test "$PMIX_RANK" = 0 && export STRICT=1 LD_LIBRARY_PATH="$1" || export LD_LIBRARY_PATH="$2"
        exec "$0" mixed_invitation' "$CLIENT" "$(folder ours)" "$(folder debian)"
    lines 3 '^OK mixed_invitation [0-2]$' "$OUT"
    for p in "lost_invitation 2" "lost_leader 2" "aborted_invitation 3"; do
        run 60 "$PMIXRUN" --recoverable -n 3 "$CLIENT" "${p% *}" >"$OUT" 2>"$ERR" || :
        lines "${p#* }" "^OK ${p% *} [0-2]\$" "$OUT"
    done
    run 60 "$PMIXRUN" --recoverable -n 4 "$CLIENT" new_leader >"$OUT" 2>"$ERR" || :
    lines 3 '^OK new_leader [1-3]$' "$OUT"
    run 60 "$PMIXRUN" --recoverable -n 4 "$CLIENT" new_leader few >"$OUT" 2>"$ERR" || :
    lines 2 '^OK new_leader [12]$' "$OUT"
}

# Requests about the system: the small host serves them, pmixrun does not. Debian's server refuses to
# register a fabric with infos.
system() { # system SERVER HEADERS LIBRARY [PROGRAM]
    local how=served
    case $1/$2/$3 in *debian*) use_debian ;; *) export STRICT=1 ;; esac
    [ "$1$3" != pmixrunours ] || export STRICT=1
    case $1 in
        pmixrun) how=refused ;;
        *_on_debian) how=served-but-fabrics ;;
    esac
    job "$1" "$2" "$3" "${4:-system}" $how
}

aborts() { # aborts HEADERS LIBRARY
    local lib client
    use_debian
    [ "$2" != ours ] || export STRICT=1
    rc_of 17 launch pmixrun "$1" "$2" abort 1 17 -
    lines "$RANKS" '^up [0-2] pid' "$OUT"
    lines 1 '^pmixrun: rank 1 .* called abort with status 17: so the test wanted$' "$ERR"
    client=$(program "$1" client) lib=$(folder "$2")
    rc_of 5 run 60 "$PMIXRUN" -n 4 -x "LD_LIBRARY_PATH=$lib" "$client" abort 1 261 02 >"$OUT" 2>"$ERR"
    lines 1 '^pmixrun: rank 1 .* aborted ranks 0,2 with status 261; the job ends: so the test wanted$' "$ERR"
    rc_of 1 run 60 "$PMIXRUN" --recoverable -n 4 -x "LD_LIBRARY_PATH=$lib" "$client" abort 1 256 02 >"$OUT" 2>"$ERR"
    lines 1 '^pmixrun: rank 1 .* aborted ranks 0,2 with status 256; the others go on: so the test wanted$' "$ERR"
    lines 1 . "$ERR"
    lines 2 '^OK abort [13]$' "$OUT"
}

# Sends many gets at a time, and large values, to our server.
loaded() { # loaded HEADERS LIBRARY
    local RANKS=2
    use_debian
    launch pmixrun "$1" "$2" heavy "$(times 2000 100000)" "$(times 20000000 64000000)" ||
        fail "exit status $?: $(tail -1 "$ERR")"
    lines 2 '^OK heavy [01]$' "$OUT"
}

# Expects that a failed rank is started again, with each library.
revives() { # revives HEADERS LIBRARY
    local n
    use_debian
    for n in 1 "$RANKS"; do
        run 60 "$PMIXRUN" --restarts 1 -n "$n" -x "LD_LIBRARY_PATH=$(folder "$2")" "$(program "$1" client)" \
            revive "$TMPDIR/file" "$TMPDIR/file-of-job" >"$OUT" 2>"$ERR" || fail "exit status $?: $(tail -1 "$ERR")"
        lines "$n" '^OK revive [0-2]$' "$OUT"
        lines 1 '^pmixrun: rank 0 .* exited with status 5, and was started again \(1 of 1\)$' "$ERR"
        lines 1 . "$ERR"
    done
}

# Processes wait in PMIx_Init and at points of their own, until a debugger (their parent) releases them.
debugs() { # debugs HEADERS LIBRARY
    local RANKS=1
    use_debian
    launch pmixrun "$1" "$2" debugger "$TMPDIR/file" || fail "exit status $?: $(tail -1 "$ERR")"
    lines 1 '^OK debugger 0$' "$OUT"
    lines 2 '^OK debugged [01]$' "$OUT"
    PMIX_MCA_embedded_debug_timeout=1s launch pmixrun "$1" "$2" left_stopped ||
        fail "exit status $?: $(tail -1 "$ERR")"
    lines 1 '^OK left_stopped 0$' "$OUT"
    lines 1 'rank [01] has waited at pmix-init for a debugger for 1.000 s, ' "$ERR"
}

# A tool finds a running job, sends input to its ranks, and reads their output. Then it forwards streams of its own job.
streams() { # streams HEADERS LIBRARY
    local in
    use_debian
    mkfifo "$TMPDIR/in"
    exec {in}<>"$TMPDIR/in"
    IN=$TMPDIR/in start "$PMIXRUN" --tools --stdin all -n 2 sh -c \
        'echo up; read -r x; echo "$PMIX_RANK: $x"; echo error >&2; exec >&- 2>&-; while ! test -f "$0"; do sleep 0.05; done' "$TMPDIR/go"
    await_lines 2 '^up$'
    TOOL_PULLS=2 TOOL_SPAWNS=1 LD_LIBRARY_PATH=$(folder "$2") run 60 "$(program "$1" client)" tool pid "$PID" \
        >"$OUT.tool" 2>"$ERR.tool" || fail "exit status $?: $(tail -1 "$ERR.tool")"
    touch "$TMPDIR/go"
    await "$PID" 20
    same 0 "$RC" "exit status of pmixrun"
    lines 2 '^[01]: hello$' "$OUT" # it gets a copy
    lines 2 '^PULLED [01] stdout [01]: hello$' "$OUT.tool"
    lines 2 '^PULLED [01] stderr error$' "$OUT.tool"
    lines 2 '^PULLED [01] stdout up$' "$OUT.tool" # written before the tool connected
    lines 1 '^to the cat$' "$OUT.tool"
    lines 1 '^in the end$' "$ERR.tool"
    rm "$TMPDIR/in" "$TMPDIR/go"
}

# The parent of a job that a tool spawns is the tool's job of one process.
tool_is_parent() { # tool_is_parent HEADERS LIBRARY
    use_debian
    start "$PMIXRUN" --tools -n 1 sh -c 'echo up; while ! test -f "$0"; do sleep 0.05; done' "$TMPDIR/go"
    await_lines 1 '^up$'
    TOOL_IS_PARENT=1 LD_LIBRARY_PATH=$(folder "$2") run 60 "$(program "$1" client)" tool pid "$PID" \
        >"$OUT.tool" 2>"$ERR.tool" || fail "exit status $?: $(tail -1 "$ERR.tool")"
    touch "$TMPDIR/go"
    await "$PID" 20
    same 0 "$RC" "exit status of pmixrun"
    lines 1 '^PARENT 1$' "$OUT.tool"
    lines 1 '^OK tool$' "$OUT.tool"
    rm "$TMPDIR/go"
}

# A tool with a namespace of its own commits, fences and connects with the ranks of a job.
tool_meets() { # tool_meets HEADERS LIBRARY
    local RANKS=2
    use_debian
    OUT=$TMPDIR/ranks start "$PMIXRUN" --tools -n 2 "$(program "$1" client)" meets_tool
    await_lines 2 '^HERE$' "$TMPDIR/ranks"
    TOOL_MEETS=1 LD_LIBRARY_PATH=$(folder "$2") run 60 "$(program "$1" client)" tool pid "$PID" \
        >"$OUT.tool" 2>"$ERR.tool" || fail "exit status $?: $(tail -1 "$ERR.tool")"
    await "$PID" 30
    same 0 "$RC" "exit status of the job: $(cat "$TMPDIR/ranks")"
    lines 1 '^MET$' "$OUT.tool"
    lines 1 '^OK tool$' "$OUT.tool"
    lines 2 '^OK meets_tool [01]$' "$TMPDIR/ranks"
    rm -f "$TMPDIR/ranks"
}

# Ranks of a job that are tools.
tools_as_ranks() { # tools_as_ranks SERVER HEADERS LIBRARY
    local name
    use_debian
    for AS_TOOL in all odd; do
        export AS_TOOL
        for name in exchange direct publish connect threads; do job "$@" "$name"; done
    done
}

# Sends more bytes than any buffer holds. The tool gets each byte, also bytes from before it connected.
volume() { # volume HEADERS LIBRARY
    local in r
    use_debian
    head -c "$(times 16 256)M" /dev/urandom >"$TMPDIR/bytes"
    mkfifo "$TMPDIR/in"
    exec {in}<>"$TMPDIR/in"
    IN=$TMPDIR/in start "$PMIXRUN" --tools --stdin all -n 2 sh -c 'echo up; read -r x; cat "$0"' "$TMPDIR/bytes"
    await_lines 2 '^up$'
    TOOL_SAVES=$TMPDIR/saved TOOL_PULLS=2 LD_LIBRARY_PATH=$(folder "$2") run 60 "$(program "$1" client)" tool pid "$PID" \
        >"$OUT.tool" 2>"$ERR.tool" || fail "exit status $?: $(tail -1 "$ERR.tool")"
    await "$PID" 20
    same 0 "$RC" "exit status of pmixrun"
    for r in 0 1; do
        { echo up && cat "$TMPDIR/bytes"; } | cmp - "$TMPDIR/saved.$r.2" || fail "output of rank $r"
    done
    rm "$TMPDIR"/{in,bytes,saved.*}
}

# A rank spawns a second job, and connects with it. One side lists ranks, the other uses the wildcard.
spawns() { # spawns HEADERS LIBRARY
    local RANKS=2
    use_debian
    [ "$2" != ours ] || export STRICT=1
    launch pmixrun "$1" "$2" spawn 3 || fail "exit status $?: $(tail -1 "$ERR")"
    lines 2 '^OK spawn [01]$' "$OUT"
    lines 3 '^OK child [0-2]$' "$OUT"
    RANKS=1
    launch pmixrun "$1" "$2" unsaid || fail "exit status $?: $(tail -1 "$ERR")"
    lines 1 '^OK unsaid 0$' "$OUT"
    [ "$1" = "$2" ] || return 0
    TENON_SANITIZED=$SANITIZE launch pmixrun "$1" "$2" cycles "$(times 120 1000)" ||
        fail "exit status $?: $(tail -1 "$ERR")"
    lines 1 '^OK cycles 0$' "$OUT"
}

# Refused spawns, for this user or for another user, which has fewer rights.
refusals() { # refusals HEADERS LIBRARY [other]
    local client lib
    [ "$1$2" = oursours ] || use_debian
    [ "$2" != ours ] || export STRICT=1
    client=$(program "$1" client) lib=$(folder "$2")
    set -- "$PMIXRUN" -x "LD_LIBRARY_PATH=$lib" "$client" refused "$ERR" "${@:3}"
    if [ "${*: -1}" = other ]; then
        need_other
        export HOME=$TMPDIR # not to be read by that one
        set -- "${OTHER[@]}" "$@"
    fi
    run 60 "$@" >"$OUT" 2>"$ERR" || fail "exit status $?: $(head -1 "$OUT")"
    lines 1 '^OK refused 0$' "$OUT"
}

# A failure ends parent and child, unless they are apart or have disconnected. A failure of a job that is apart does not
# change pmixrun's status.
kin() { # kin HEADERS LIBRARY FAILS HOW STATUS NOTIFIED_OF_US NOTIFIED_OF_THEM OK_PARENT OK_CHILD
    local RANKS=1
    rc_of "$5" launch pmixrun "$1" "$2" kin "$3" "$4"
    lines "$6" '^NOTIFIED of us ' "$OUT"
    lines "$7" '^NOTIFIED of them ' "$OUT"
    lines "$8" '^OK kin 0$' "$OUT"
    lines "$9" '^OK kinchild ' "$OUT"
    lines 1 '^pmixrun: rank [01] .* exited with status 7$' "$ERR"
}

families() { # families HEADERS LIBRARY
    use_debian
    export PMIX_MCA_embedded_notice=1s # also under load
    kin "$@" child '' 7 1 1 0 0
    kin "$@" parent '' 7 0 2 0 0
    kin "$@" child apart 0 1 1 1 0
    kin "$@" parent apart 7 0 1 0 2
    kin "$@" child parted 7 0 0 1 0
    kin "$@" parent parted 7 0 0 0 2
}

# Expects that each rank is bound to a core of its own, and gets the right locality.
bound() { # bound HEADERS LIBRARY
    local RANKS=2 client
    use_debian
    need_cores 2
    client=$(program "$1" client)
    [ "$2" != ours ] || export STRICT=1
    well "$PMIXRUN" -n 2 --map-by core --bind-to core -x "LD_LIBRARY_PATH=$(folder "$2")" "$client" bound
    lines 2 '^OK bound [01]$' "$OUT"
    used 1 pmixrun "$OUR_LIB" 2 client "$(library "$2")"
}

# Queries, peers, nodes and refreshed values, answered by our server.
queried() { # queried HEADERS LIBRARY
    use_debian
    job pmixrun "$1" "$2" queried
}

# CPUs of the node for a job that the client spawns there.
allocates() { # allocates HEADERS LIBRARY
    local RANKS=1
    use_debian
    launch pmixrun "$1" "$2" allocates || fail "exit status $?: $(tail -1 "$ERR")"
    lines 1 '^OK allocates 0$' "$OUT"
    lines 1 '^OK in_allocation 0$' "$OUT"
}

# Events about the ends of processes, and none about the end of a silent job.
counts_ends() { # counts_ends HEADERS LIBRARY
    local RANKS=1
    use_debian
    launch pmixrun "$1" "$2" counts_ends || [ $? = 1 ] || fail "$(tail -1 "$ERR")"
    lines 1 '^OK counts_ends 0$' "$OUT"
}

# A topology that our server shares with its clients by a file.
shares_topology() { # shares_topology SERVER HEADERS LIBRARY
    use_debian
    ! ldconfig -p | grep -q 'libhwloc.so.15 ' && skip "hwloc is not installed"
    HOST_SHARES_TOPOLOGY=1 job "$1" "$2" "$3" shared_topology
    same "" "$(find "$TMPDIR" -name topology)" "files that are left"
}

# Heartbeats, a file and usage of resources, monitored by our server. Job control by pmixrun.
monitored() { # monitored HEADERS LIBRARY
    use_debian
    job pmixrun "$1" "$2" monitored "$TMPDIR"
    job pmixrun "$1" "$2" ordered
}

heartbeats() { # heartbeats HEADERS LIBRARY N MS: many heartbeats, few wake-ups of our server
    local RANKS=16
    use_debian
    job pmixrun "$1" "$2" heartbeats "$3" "$4"
    lines 1 "^SLEPT .* s, $((RANKS * $3)) heartbeats\$" "$OUT"
}

logged() { # logged HEADERS LIBRARY: texts of a client, twice each, on our server's streams
    use_debian
    job pmixrun "$1" "$2" log
    same "$((6 * RANKS)) $((10 * RANKS))" "$(grep -c "^text.*stdout" "$OUT") $(grep -c "^text.*stderr" "$ERR")" "texts logged"
}

# A program without a launcher is a job of one process.
singleton() { # singleton HEADERS
    local name
    [ "$1" = ours ] || need_debian_headers
    for name in exchange direct resolve again; do
        STRICT=1 LD_LIBRARY_PATH=$LIBDIR well "$(program "$1" client)" "$name"
        lines 1 "^OK $name 0\$" "$OUT"
    done
    used 4 client "$OUR_LIB"
}

# Services that few hosts offer: forwarding, process sets, values of every job, groups.
services() { # services SERVER HEADERS LIBRARY
    local -x MINIHOST_SERVES=1
    local RANKS=2
    [ "$1$2$3" = oursoursours ] || use_debian
    [ "$1" = ours ] || ! grep -q '^#define PMIX_VERSION_MAJOR 5' "$DEBIAN_INCLUDE/pmix_version.h" ||
        skip "the server of OpenPMIx 5 waits for ever for a lock of its own, with its own clients, too"
    case $1 in ours) job our_host_on_ours "$2" "$3" services ours ;; *) job host_on_debian "$2" "$3" services debian ;; esac
    lines 1 '^OK minihost$' "$OUT"
}

comes_back() {
    well "$PMIXRUN" -n "$RANKS" "$CLIENT" again
    lines "$RANKS" '^OK again [0-2]$' "$OUT"
}

# Debian's own launcher as the server.
mpirun() { # mpirun HEADERS LIBRARY
    local name
    use_debian
    has mpirun.openmpi || skip "Debian's openmpi-bin is not installed"
    for name in exchange direct limits resolve; do
        well mpirun.openmpi -n 2 -x "LD_LIBRARY_PATH=$(folder "$2")" "$(program "$1" client)" "$name"
        lines 2 "^OK $name [0-9]+\$" "$OUT"
    done
    used 1 '@(mpirun*|prterun)' "$DEBIAN_LIB" 8 client "$(library "$2")"
}

for headers in debian ours; do
    whose=${headers/ours/our}
    for lib in debian ours; do
        t "pmixrun_with_a_client_of_${whose}_headers_on_${lib/ours/our}_library" pair pmixrun $headers $lib
        t "spawn_and_connect_of_a_client_of_${whose}_headers_on_${lib/ours/our}_library" spawns $headers $lib
        [ $headers = debian ] || t "failures_of_parent_and_child_on_${lib/ours/our}_library" families $headers $lib
        # Headers differ by macros, which the cases above use. Debian's headers on our library run the other cases in the
        # wide form, our headers on Debian's library at length only.
        [ $headers$lib != debianours ] || is_wide || continue
        [ $headers$lib != oursdebian ] || [ "$(times 0 1)" != 0 ] || continue
        t "binding_of_a_client_of_${whose}_headers_on_${lib/ours/our}_library" bound $headers $lib
        t "abort_of_a_client_of_${whose}_headers_on_${lib/ours/our}_library" aborts $headers $lib
        t "debugger_of_${whose}_headers_on_${lib/ours/our}_library" debugs $headers $lib
        t "groups_of_a_client_of_${whose}_headers_on_${lib/ours/our}_library" grouped $headers $lib
        t "load_of_clients_of_${whose}_headers_on_${lib/ours/our}_library" loaded $headers $lib
        t "restart_of_a_client_of_${whose}_headers_on_${lib/ours/our}_library" revives $headers $lib
        t "streams_of_a_job_for_a_tool_of_${whose}_headers_on_${lib/ours/our}_library" with_tool $lib streams $headers $lib
        t "a_tool_of_${whose}_headers_on_${lib/ours/our}_library_is_a_parent" with_tool $lib tool_is_parent $headers $lib
        t "each_byte_of_a_job_for_a_tool_of_${whose}_headers_on_${lib/ours/our}_library" with_tool $lib volume $headers $lib
        t "refusals_for_a_client_of_${whose}_headers_on_${lib/ours/our}_library" refusals $headers $lib
        t "refusals_for_another_user_of_${whose}_headers_on_${lib/ours/our}_library" refusals $headers $lib other
    done
    [ $headers = debian ] && form= || form=wide
    t "a_tool_of_${whose}_headers_on_our_library_meets_a_job" tool_meets $headers ours
    $form t "tools_of_${whose}_headers_on_our_library_as_ranks" tools_as_ranks pmixrun $headers ours
    $form t "debian_server_with_tools_of_${whose}_headers_on_our_library_as_ranks" \
        tools_as_ranks host_on_debian $headers ours
    $form t "debian_server_with_a_client_of_${whose}_headers_on_our_library" pair host_on_debian $headers ours
    t "singleton_of_${whose}_headers_on_our_library" singleton $headers
    $form t "debian_mpirun_with_a_client_of_${whose}_headers_on_our_library" mpirun $headers ours
done
t a_tool_of_debian_headers_on_debian_library_meets_a_job with_tool debian tool_meets debian debian
t tools_of_debian_headers_on_debian_library_as_ranks with_tool debian tools_as_ranks pmixrun debian debian
t host_of_debian_headers_on_our_library_with_debian_tools_as_ranks with_tool debian tools_as_ranks host_on_ours debian debian
wide t debian_server_with_a_client_of_our_headers_on_debian_library pair host_on_debian ours debian
wide t host_of_debian_headers_on_our_library_with_our_clients pair host_on_ours debian ours
t host_of_debian_headers_on_our_library_with_debian_clients pair host_on_ours debian debian
for headers in debian ours; do
    for lib in debian ours; do
        t "host_of_debian_headers_on_our_library_serves_${headers}_headers_on_${lib}_library" \
            system host_on_ours $headers $lib
    done
    t "debian_server_serves_${headers}_headers_on_our_library" system host_on_debian $headers ours
    t "host_of_our_headers_on_debian_library_serves_${headers}_headers" system our_host_on_debian $headers ours
    t "pmixrun_offers_nothing_to_${headers}_headers" system pmixrun $headers ours
done
t logs_of_debian_clients logged debian debian
t queries_of_debian_clients queried debian debian
t queries_of_our_clients queried ours ours
t topology_of_our_server_for_debian_clients shares_topology our_host_on_ours debian debian
t topology_of_our_server_for_our_clients shares_topology our_host_on_ours ours ours
t ends_of_processes_for_debian_clients counts_ends debian debian
t ends_of_processes_for_our_clients counts_ends ours ours
t allocations_of_debian_clients allocates debian debian
t allocations_of_our_clients allocates ours ours
t monitors_of_debian_clients monitored debian debian
t monitors_of_our_clients monitored ours ours
t heartbeats_of_debian_clients heartbeats debian debian 5 600
t heartbeats_of_our_clients heartbeats ours ours 100 20
t host_of_our_headers_on_our_library_serves_our_headers system our_host_on_ours ours ours
t host_of_our_headers_has_the_newer_slots_too system our_host_on_ours ours ours newer
t pmixrun_offers_nothing_newer system pmixrun ours ours newer
t services_of_our_server_for_our_clients services ours ours ours
t services_of_our_server_for_clients_of_debian_headers services ours debian ours
t services_of_our_server_for_debian_clients services ours debian debian
t services_of_debian_server_for_our_clients services debian ours ours
t services_of_debian_server_for_debian_clients services debian debian debian
t groups_by_invitation invited
t client_inits_again_and_in_a_forked_child comes_back
suite_end
