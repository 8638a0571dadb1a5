#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tools and servers as whole programs: our tool finds Debian's server in each way, also with stale or untrusted
# files. Debian's own tool with Debian's server proves the test.
. "$(dirname "$0")/lib.sh"
suite_begin tool "$@"

HOST=$(uname -n)
AS=() # command to run a server or a tool as another user

# serve HEADERS NAME ATTRIBUTE...: starts a server that reads orders from SERVER_FD
serve() {
    local headers=$1 name=$2
    shift
    SERVER_OUT=$TMPDIR/$name.out
    mkfifo -m 666 "$TMPDIR/$name.in"
    (LD_LIBRARY_PATH=$(folder "$headers") TOOL_HOST_JOBS=jobs-of-$name \
        TOOL_HOST_OUTPUT=$TMP/log/sent.bin TOOL_HOST_INPUT=$TMP/log/got.bin \
        in_case "${AS[@]}" "$(program "$headers" tool_host)" "$@") <"$TMPDIR/$name.in" >"$SERVER_OUT" 2>&1 &
    SERVER_PID=$!
    exec {SERVER_FD}>"$TMPDIR/$name.in"
    await_lines 1 '^ready' "$SERVER_OUT"
    SERVER_ID=$(sed -n 's/^ready.* \([0-9]*\)$/\1/p' "$SERVER_OUT")
}

# Ends a server by the end of its input. The harness checks for leftovers.
close_server() { # FD PID NAME
    eval "exec $1>&-"
    await "$2" 20
    same 0 "$RC" "exit status of the server $3"
    rm -f "$TMPDIR/$3.in" "$TMPDIR/$3.out"
}
end_server() { close_server "$SERVER_FD" "$SERVER_PID" "${1:-serving}"; }

# tool HEADERS WAY [VALUE]
tool() {
    local headers=$1
    shift
    LD_LIBRARY_PATH=$(folder "$headers") run 60 "${AS[@]}" "$(program "$headers" client)" tool "$@" >"$OUT" 2>"$ERR"
}

uri_of() { head -1 "$TMPDIR/pmix.$HOST.tool.$1"; }

# sees NAME HEADERS WAY [VALUE]: expects that the tool finds "serving", and gets the name NAME
sees() {
    local name=$1
    shift
    tool "$@" || fail "by $*: $(cat "$ERR")"
    lines 1 "^INIT (PMIX_)?SUCCESS $name " "$OUT"
    lines 1 '^SERVERS (PMIX_)?SUCCESS 1 serving$' "$OUT"
    lines 1 '^QUERY (PMIX_)?SUCCESS jobs-of-serving$' "$OUT"
    lines 1 '^OK tool$' "$OUT"
}

sees_none() { # sees_none HEADERS WAY [VALUE]
    tool "$@" && fail "$*: a server was found"
    lines 1 '^INIT (UNREACHABLE|PMIX_ERR_UNREACH)' "$OUT"
}

# between CASE TOOL'S_HEADERS SERVER'S_HEADERS ATTRIBUTE...: runs a case with a server
between() { with_tool "$2" with_server "$@"; }
with_server() {
    local case=$1 of_tool=$2 of_server=$3
    shift 3
    [ "$of_tool$of_server" = oursours ] || use_debian
    serve "$of_server" serving "$@"
    "$case" "$of_tool"
}

every_way() {
    local n=0 way file=$TMPDIR/pmix.$HOST.tool.serving
    for way in "uri $(uri_of serving)" "file $file" "pid $SERVER_ID" 'nspace serving' system any; do
        # shellcheck disable=SC2086
        sees given-$((++n)) "$1" $way
    done
    PMIX_NAMESPACE=mine PMIX_RANK=4 sees mine "$1" uri "$(uri_of serving)"
    TOOL_ACTS=1 tool "$1" any || fail "acting: $(cat "$ERR")"
    lines 1 '^CONTROL (PMIX_)?SUCCESS$' "$OUT"
    lines 1 '^SPAWN (PMIX_)?SUCCESS spawned$' "$OUT"
    lines 1 '^NOTIFY (PMIX_)?SUCCESS$' "$OUT"
    lines 1 '^spawn program 1$' "$SERVER_OUT"
    lines 8 "^uid of-tool $(id -u)\$" "$SERVER_OUT"
    end_server
}

# gets_event EVENT WORD: expects that a tool gets EVENT after the order WORD to the server
gets_event() {
    local out=$TMP/log/event.out
    OUT=$out TOOL_WAITS=${1%% *} LD_LIBRARY_PATH=$LIBDIR start "$CLIENT" tool any
    await_lines 1 LISTENING "$out"
    echo "$2" >&"$SERVER_FD"
    await "$PID" 30
    same 0 "$RC" "exit status of the tool: $(cat "$out")"
    lines 1 "^EVENT $1" "$out"
}

events() {
    gets_event '-145 ' event
    end_server
}

# make_bytes NAME SIZE: makes a file whose bytes show each loss or exchange
make_bytes() {
    python3 -c '
import random, sys
random.seed(12)
open(sys.argv[1], "wb").write(random.randbytes(int(sys.argv[2])))' "$1" "$2"
}

# stream TOOL'S_HEADERS: starts a tool in the background, which waits for the event, with exported variables. Standard
# streams: IN, TMPDIR/tool.out, TMPDIR/tool.err
stream() {
    OUT=$TMPDIR/tool.out ERR=$TMPDIR/tool.err LD_LIBRARY_PATH=$(folder "$1") TOOL_WAITS=${2:--145} \
        start "${AS[@]}" "$(program "$1" client)" tool any
    await_lines 1 LISTENING "$TMPDIR/tool.out"
}

# Checks each byte of several MiB of output, in a function or on the tool's own stderr.
output() { # TOOL'S HEADERS; OWN
    local sent=$TMP/log/sent.bin got=$TMP/log/got.bin size=5000011
    make_bytes "$sent" $size
    TOOL_COPIES=${OWN:-$got} stream "$1"
    echo deliver >&"$SERVER_FD"
    await_lines 1 "^delivered job $size\$" "$SERVER_OUT"
    echo event >&"$SERVER_FD"
    await "$PID" 60
    same 0 "$RC" "exit status of the tool: $(tail -1 "$TMPDIR/tool.out")"
    [ -z "${OWN:-}" ] || mv "$TMPDIR/tool.err" "$got"
    cmp "$sent" "$got" || fail "bytes differ"
    rm -f "$sent" "$got" "$TMPDIR"/tool.out "$TMPDIR"/tool.err
    end_server
}
own_output() { OWN=- output "$1"; }

# Forwards the tool's own stdin.
input() { # TOOL'S HEADERS SIZE
    local sent=$TMP/log/sent.bin got=$TMP/log/got.bin
    make_bytes "$sent" "$2"
    IN=$sent TOOL_STDIN=1 stream "$1"
    await_lines 1 "^pushed job $2\$" "$SERVER_OUT"
    echo event >&"$SERVER_FD"
    await "$PID" 60
    same 0 "$RC" "exit status of the tool: $(tail -1 "$TMPDIR/tool.out")"
    same "$(sha256sum <"$sent")" "$(sha256sum <"$got")" "what arrived"
    rm -f "$sent" "$got" "$TMPDIR"/tool.out "$TMPDIR"/tool.err
    end_server
}
much_input() { input "$1" "$(times 16777216 1073741824 67108864)"; }
some_input() { input "$1" 40000; }

# The tool writes all output that a server sent before its death.
cut_output() {
    local sent=$TMP/log/sent.bin n
    make_bytes "$sent" 1000003
    TOOL_COPIES=- stream "$1" -61
    printf 'deliver\ndie\n' >&"$SERVER_FD"
    await "$PID" 30
    same 0 "$RC" "exit status of the tool: $(tail -1 "$TMPDIR/tool.out")"
    n=$(stat -c %s "$TMPDIR/tool.err")
    cmp -n "$n" "$sent" "$TMPDIR/tool.err" || fail "bytes differ"
    await "$SERVER_PID" 5
    eval "exec $SERVER_FD>&-"
    rm -rf "$sent" "${TMPDIR:?}"/*
}

lost() {
    gets_event '-61 serving$' die
    # The file of the dead server is useless, and no tool waits for the server.
    sees_none ours any
    tool ours optional || fail "optional: $(cat "$ERR")"
    lines 1 '^INIT (PMIX_)?SUCCESS tool\.' "$OUT"
    lines 1 '^SERVERS (UNREACHABLE|PMIX_ERR_UNREACH) 0' "$OUT"
    await "$SERVER_PID" 5
    rm -rf "${TMPDIR:?}"/*
}

refused() {
    sees_none "$1" any
    end_server
}

# Server and tool belong to a plain user.
unprivileged() { # SERVER'S HEADERS
    need_other
    [ "$1" = ours ] || use_debian
    chmod 755 "$TMP/bin"
    AS=("${OTHER[@]}")
    serve "$1" serving tool
    sees given-1 ours any
    # A tool of another user does not trust the file.
    AS=(setpriv --reuid 12346 --regid 12346 --clear-groups)
    sees_none ours any
    end_server
}

two() { # TOOL'S HEADERS, and those of two servers
    local first first_fd first_pid
    [ "$1$2$3" = oursoursours ] || use_debian
    serve "$2" one tool
    first=$(uri_of one) first_fd=$SERVER_FD first_pid=$SERVER_PID
    serve "$3" two tool
    TOOL_SECOND=$(uri_of two) tool "$1" uri "$first" || fail "exit status $?: $(cat "$ERR")"
    lines 1 '^SECOND two$' "$OUT"
    lines 2 '^QUERY (PMIX_)?SUCCESS jobs-of-one$' "$OUT"
    lines 1 '^QUERY (PMIX_)?SUCCESS jobs-of-two$' "$OUT"
    lines 2 '^SERVERS (PMIX_)?SUCCESS 1 one$' "$OUT"
    # The tool keeps its name.
    lines 1 '^tool given-1 0$' "$TMPDIR/two.out"
    lines 1 '^OK tool$' "$OUT"
    end_server two
    close_server "$first_fd" "$first_pid" one
}

# ---- files of ours ------------------------------------------------------------------------------

# Starts a server with all kinds of files, in folders of their own.
SYSTEM_DIR='' SERVER_DIR='' OF_SYSTEM='' OF_SERVER=''
serve_all() { # TOOL'S HEADERS
    TOOL=$1 SYSTEM_DIR=$TMPDIR/node SERVER_DIR=$TMPDIR/session
    export PMIX_SYSTEM_TMPDIR=$SYSTEM_DIR PMIX_SERVER_TMPDIR=$SERVER_DIR
    mkdir "$SYSTEM_DIR"
    TOOL_HOST_SYSTEM_DIR=$SYSTEM_DIR TOOL_HOST_LAUNCHER_FILE=$TMPDIR/a/b/launcher \
        serve ours serving tool system session sched ctrlr
    OF_SYSTEM="pmix.sys.$HOST pmix.sched.$HOST pmix.sysctrlr.$HOST"
    OF_SERVER="pmix.sys.$HOST pmix.$HOST.tool"
    OF_SERVER+=" pmix.$HOST.$SERVER_ID pmix.$HOST.serving pmix.$HOST.tool.$SERVER_ID pmix.$HOST.tool.serving"
}

# only FILE...: moves the other files away, and back with "only all"
only() {
    local dir file
    for dir in "$SYSTEM_DIR" "$SERVER_DIR"; do
        for file in "$dir"/.away.*; do
            [ ! -e "$file" ] || mv "$file" "$dir/${file##*/.away.}"
        done
        for file in "$dir"/pmix.*; do
            [ "$1" != all ] || continue
            case " $* " in *" ${file#"$TMPDIR"/} "*) ;; *) mv "$file" "$dir/.away.${file##*/}" ;; esac
        done
    done
}

end_all() {
    only all
    end_server
    rmdir "$SYSTEM_DIR"
}

# finds WAY [VALUE]: expects that the tool finds the server in PMIx_tool_init, and ours also by
# PMIx_tool_attach_to_server
finds() {
    tool "$TOOL" "$@" || fail "$*: $(cat "$ERR")"
    lines 1 '^SERVERS (PMIX_)?SUCCESS 1 serving$' "$OUT"
    lines 1 '^QUERY (PMIX_)?SUCCESS jobs-of-serving$' "$OUT"
    [ "$TOOL" = ours ] || return 0 # 4.2.2 names a server when it has none
    TOOL_ATTACHES=1 tool "$TOOL" "$@" || fail "$*, later: $(cat "$ERR")"
    lines 1 '^SERVERS (PMIX_)?SUCCESS 1 serving$' "$OUT"
    lines 1 '^OK tool$' "$OUT"
}
finds_none() { sees_none "$TOOL" "$@"; }

every_file_is_there_and_leads_to_it() {
    local file
    serve_all ours
    # shellcheck disable=SC2086
    same "$(printf '%s 600\n' $OF_SYSTEM $OF_SERVER | sort)" \
        "$(find "$TMPDIR" -type f -name 'pmix.*' -printf '%f %m\n' | sort)" "files"
    for file in $OF_SYSTEM; do finds file "$SYSTEM_DIR/$file"; done
    for file in $OF_SERVER; do finds file "$SERVER_DIR/$file"; done
    finds file "$TMPDIR/a/b/launcher"
    finds uri "file:$TMPDIR/a/b/launcher"
    end_server
    same "" "$(find "$TMPDIR" -mindepth 1 ! -path "$SYSTEM_DIR" | tr '\n' ' ')" "left behind"
    rmdir "$SYSTEM_DIR"
}

every_way_needs_one_file() {
    serve_all ours
    only "node/pmix.sys.$HOST" && finds system && finds first && finds order PMIX_CONNECT_TO_SYSTEM
    only "node/pmix.sched.$HOST" && finds sched && finds order PMIX_CONNECT_TO_SYSTEM,PMIX_CONNECT_TO_SCHEDULER
    finds_none any # a scheduler is not a server for all tools
    only "node/pmix.sysctrlr.$HOST" && finds ctrlr && finds order pmix.cnct.ctrlr
    finds_none any
    only "session/pmix.sys.$HOST" && finds any && finds first && finds_none system
    only "session/pmix.$HOST.tool" && finds any && finds_none pid "$SERVER_ID"
    for name in "$HOST" "$HOST.tool"; do
        only "session/pmix.$name.$SERVER_ID" && finds pid "$SERVER_ID" && finds any && finds_none nspace serving
        only "session/pmix.$name.serving" && finds nspace serving && finds any && finds_none pid "$SERVER_ID"
    done
    only nothing
    finds_none any
    finds_none first
    finds file "$TMPDIR/a/b/launcher"
    end_all
}

# Debian's tool finds our files with names that it supports, in its folder.
debian_finds_ours() {
    use_debian
    serve_all debian
    only "node/pmix.sys.$HOST" && finds system && finds first
    export PMIX_SYSTEM_TMPDIR=$SERVER_DIR # where 4.2 looks for those of sessions, too
    only "session/pmix.$HOST.tool" && finds any
    only "session/pmix.$HOST.tool.$SERVER_ID" && finds pid "$SERVER_ID"
    only "session/pmix.$HOST.tool.serving" && finds nspace serving
    finds file "$TMPDIR/a/b/launcher"
    end_all
}

# A process of another user has the port of a dead server.
taken_port() {
    is_root || skip "needs root, to become another user"
    local port taken=$TMP/log/taken.out
    OUT=$taken start python3 -c '
import os, socket
os.setgroups([])
os.setresgid(12345, 12345, 12345)
os.setresuid(12345, 12345, 12345)
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
for i in range(2): # the tool tries again once
    print(s.accept()[0].recv(100), flush=True)'
    await_lines 1 . "$taken"
    port=$(cat "$taken")
    printf 'gone.0;tcp4://127.0.0.1:%s\n4.2.9\n%s\n0:0\n\n' "$port" "$$" >"$TMPDIR/pmix.sys.$HOST"
    chmod 600 "$TMPDIR/pmix.sys.$HOST"
    sees_none ours system
    lines 1 "what listens at tcp4://127.0.0.1:$port is uid 12345's, not uid 0's" "$ERR"
    await "$PID" 10
    lines 2 "^b''\$" "$taken" # not a byte
    rm "$TMPDIR/pmix.sys.$HOST"
}

# Tools of other users, with our server that allows them or does not. If it allows them, all users may read its files.
# Our tools trust only files of root.
foreign() { # ATTRIBUTE STATUS MODE
    need_other
    serve ours serving tool "$1"
    same "$3" "$(stat -c %a "$TMPDIR/pmix.$HOST.tool.serving")" "mode of the file"
    AS=("${OTHER[@]}")
    tool ours uri "$(uri_of serving)" || true
    lines 1 "^INIT (PMIX_)?$2" "$OUT"
    [ "$2" != SUCCESS ] || lines 1 '^uid of-tool 12345$' "$SERVER_OUT"
    end_server
}

# By default a server does not admit tools, and writes no files.
closed() {
    serve ours serving
    [ -z "$(find "$TMPDIR" -name 'pmix.*')" ] || fail "it wrote files: $(ls "$TMPDIR")"
    end_server
}

# pmixrun admits tools of its user by files in its private folder, and no others. --no-tools closes the door.
launcher_admits() { # TOOL'S HEADERS, and an argument of pmixrun
    local server file
    [ "$1" = ours ] || use_debian
    OUT=$TMPDIR/ranks start "$PMIXRUN" ${2:+"$2"} -n 1 sh -c 'echo up; while ! test -f "$0"; do sleep 0.05; done' "$TMPDIR/go"
    server=$PID
    await_lines 1 '^up$' "$TMPDIR/ranks"
    same "" "$(find "$TMPDIR" -maxdepth 1 -name 'pmix.*')" "files outside of the private folder"
    file=$(find "$TMPDIR"/pmix-server.* -name "pmix.$HOST.tool.$server")
    if [ "${2:-}" = --no-tools ]; then
        same "" "$file" "a file for tools"
        sees_none "$1" pid "$server"
        sees_none "$1" any
    else
        same 600 "$(stat -c %a "$file")" "mode of the file"
        for way in "pid $server" any; do
            # shellcheck disable=SC2086
            tool "$1" $way || fail "by $way: $(cat "$ERR")"
            lines 1 '^INIT (PMIX_)?SUCCESS ' "$OUT"
        done
        ! is_root || {
            need_other
            AS=("${OTHER[@]}")
            tool ours uri "$(head -1 "$file")" && fail "a tool of another user is admitted"
            lines 1 '^INIT (PMIX_)?(ERR_)?UNREACH' "$OUT"
        }
    fi
    touch "$TMPDIR/go"
    await "$server" 20
    same 0 "$RC" "exit status of pmixrun"
    rm "$TMPDIR/go" "$TMPDIR/ranks"
}

# The file of a killed server does not disturb other servers, and the next server removes it. (pcleanup/inproc leaves
# the file until then.)
stale() {
    PMIX_MCA_pcleanup=inproc serve ours serving tool system
    echo die >&"$SERVER_FD"
    await "$SERVER_PID" 10
    eval "exec $SERVER_FD>&-"
    rm -f "$TMPDIR"/serving.*
    there "$TMPDIR/pmix.sys.$HOST"
    serve ours serving tool system
    sees given-1 ours system
    # A second system server cannot start.
    run 20 "$PROGRAMS/tool_host" other tool system >"$OUT" 2>"$ERR" && fail "there are two"
    lines 1 '^failed ' "$OUT"
    lines 1 "$TMPDIR/pmix.sys.$HOST is that of a server that runs: pid $SERVER_PID of uid $(id -u), serving.0" "$ERR"
    sees given-2 ours system
    end_server
}

t every-way-of-debian between every_way debian debian tool system session
t every-way-at-debian between every_way ours debian tool system session
t events-at-debian between events ours debian tool
t output-of-debian between output ours debian tool
t own-output-of-debian between own_output ours debian tool
t output-of-ours between output ours ours tool
t own-output-of-ours between own_output ours ours tool
t output-of-ours-for-debian between output debian ours tool
t output-of-ours-that-dies between cut_output ours ours tool
t input-for-debian between much_input ours debian tool
t input-for-ours between much_input ours ours tool
t input-for-ours-of-debian between some_input debian ours tool
t loss-of-debian between lost ours debian tool
t two-debian two ours debian debian
t unprivileged-at-debian unprivileged debian
t every-way-at-ours between every_way ours ours tool system session
t every-way-of-debian-at-ours between every_way debian ours tool system session
t events-at-ours between events ours ours tool
t loss-of-ours between lost ours ours tool
t two-of-each two ours debian ours
t two-ours two ours ours ours
t two-ours-for-debian with_tool debian two debian ours ours
t refused-by-ours between refused ours ours tool refuse
t unprivileged-at-ours unprivileged ours
t foreign-allowed foreign foreign SUCCESS 644
t foreign-refused foreign domestic '(ERR_)?UNREACH' 600
t closed-to-tools closed
t launcher-admits launcher_admits ours
t launcher-admits-debian with_tool debian launcher_admits debian
t launcher-admits-none launcher_admits ours --no-tools
t stale-files stale
t every-file-of-ours every_file_is_there_and_leads_to_it
t every-way-needs-one-file every_way_needs_one_file
t files-of-ours-for-debian with_tool debian debian_finds_ours
t port-of-another-user taken_port
suite_end
