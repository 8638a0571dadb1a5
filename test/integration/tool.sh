#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tools and servers, whole programs: a tool of ours at Debian's server in each way there is to find
# it, and with its files stale or not to be believed. Debian's own tool at Debian's server proves
# the test.
. "$(dirname "$0")/lib.sh"
suite_begin tool "$@"

DEBIAN_DIR=$(dirname "${DEBIAN_LIB:-/nowhere/x}")
HOST=$(uname -n)
# The foreign library has leaks of its own.
NO_LEAK_CHECK=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

if [ -f "$DEBIAN_INCLUDE/pmix.h" ] && [ -f "$DEBIAN_LIB" ]; then
    compile_debian tool_host "$HERE/host/tool_host.c" || die "cannot compile host/tool_host.c"
    compile_debian tool_debian "$HERE/clients/tool.c" || die "cannot compile clients/tool.c"
fi

# serve LIBRARY NAME ATTRIBUTE...: a server, its words to come through "tell NAME WORD"
serve() {
    local library=$1 name=$2 program=$TMP/bin/tool_host
    shift 2
    SERVER_OUT=$TMPDIR/$name.out
    mkfifo "$TMPDIR/$name.in"
    case $library in
        debian) export LD_LIBRARY_PATH=$DEBIAN_DIR ;;
        ours) program=$PROGRAMS/tool_host LD_LIBRARY_PATH=$LIBDIR ;;
    esac
    TOOL_HOST_JOBS=jobs-of-$name ASAN_OPTIONS=$NO_LEAK_CHECK in_case_at "$TMPDIR/$name.in" \
        "$SERVER_OUT" "$program" "$name" "$@"
    SERVER_PID=$PID
    unset LD_LIBRARY_PATH
    exec {SERVER_FD}>"$TMPDIR/$name.in"
    until_true 20 grep -q '^ready' "$SERVER_OUT" || fail "the server $name is not ready: $(cat "$SERVER_OUT")"
}

in_case_at() { # INPUT OUTPUT COMMAND...
    local in=$1 out=$2
    shift 2
    (in_case "$@") <"$in" >"$out" 2>&1 &
    PID=$!
}

# The servers end when their input does; what they must not leave is looked for by the harness.
close_server() { # FD PID NAME
    eval "exec $1>&-"
    await "$2" 20
    same 0 "$RC" "exit status of the server $3"
    rm -f "$TMPDIR/$3.in" "$TMPDIR/$3.out"
    rm -rf "$TMPDIR"/pmix_dstor_*
}
end_server() { close_server "$SERVER_FD" "$SERVER_PID" "$1"; }

# tool LIBRARY WAY [VALUE]
tool() {
    local library=$1 program=$PROGRAMS/tool dir=$LIBDIR
    shift
    local options=${ASAN_OPTIONS:-}
    [ "$library" = ours ] || program=$TMP/bin/tool_debian dir=$DEBIAN_DIR options=$NO_LEAK_CHECK
    ASAN_OPTIONS=$options LD_LIBRARY_PATH=$dir run 60 "$program" "$@" >"$OUT" 2>"$ERR"
}

uri_of() { head -1 "$TMPDIR/pmix.$HOST.tool.$1"; }

sees() { # SERVER NAME
    lines 1 "^INIT SUCCESS $2 " "$OUT"
    lines 1 "^SERVERS SUCCESS 1 $1\$" "$OUT"
    lines 1 "^QUERY SUCCESS jobs-of-$1\$" "$OUT"
    lines 1 '^OK tool$' "$OUT"
}

every_way() { # TOOL'S LIBRARY, SERVER'S LIBRARY
    need_debian_headers
    serve "$2" serving tool system session
    tool "$1" uri "$(uri_of serving)" || fail "by uri: $(cat "$ERR")"
    sees serving given-1
    tool "$1" file "$TMPDIR/pmix.$HOST.tool.serving" || fail "by file: $(cat "$ERR")"
    sees serving given-2
    tool "$1" pid "$(sed -n 's/^ready.* \([0-9]*\)$/\1/p' "$SERVER_OUT")" || fail "by pid: $(cat "$ERR")"
    sees serving given-3
    tool "$1" nspace serving || fail "by namespace: $(cat "$ERR")"
    sees serving given-4
    tool "$1" system || fail "by system: $(cat "$ERR")"
    sees serving given-5
    tool "$1" any || fail "by search: $(cat "$ERR")"
    sees serving given-6
    PMIX_NAMESPACE=mine PMIX_RANK=4 tool "$1" uri "$(uri_of serving)" || fail "with a name: $(cat "$ERR")"
    sees serving mine
    TOOL_ACTS=1 tool "$1" any || fail "acting: $(cat "$ERR")"
    lines 1 '^CONTROL SUCCESS$' "$OUT"
    lines 1 '^SPAWN SUCCESS spawned$' "$OUT"
    lines 1 '^NOTIFY SUCCESS$' "$OUT"
    lines 1 '^spawn program 1$' "$SERVER_OUT"
    lines 8 "^uid of-tool $(id -u)\$" "$SERVER_OUT"
    end_server serving
}

# A server with every file there is, in folders of their own.
SYSTEM_DIR='' SERVER_DIR='' OF_SYSTEM='' OF_SERVER=''
serve_all() {
    SYSTEM_DIR=$TMPDIR/node SERVER_DIR=$TMPDIR/session
    export PMIX_SYSTEM_TMPDIR=$SYSTEM_DIR PMIX_SERVER_TMPDIR=$SERVER_DIR
    mkdir "$SYSTEM_DIR"
    TOOL_HOST_SYSTEM_DIR=$SYSTEM_DIR TOOL_HOST_LAUNCHER_FILE=$TMPDIR/a/b/launcher \
        serve ours serving tool system session sched ctrlr
    SERVER_ID=$(sed -n 's/^ready.* \([0-9]*\)$/\1/p' "$SERVER_OUT")
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

# finds WAY [VALUE]: in PMIx_tool_init; and ours, by PMIx_tool_attach_to_server
finds() {
    tool "$TOOL" "$@" || fail "$*: $(cat "$ERR")"
    lines 1 '^SERVERS SUCCESS 1 serving$' "$OUT"
    lines 1 '^QUERY SUCCESS jobs-of-serving$' "$OUT"
    [ "$TOOL" = ours ] || return 0 # 4.2.2 names a server when it has none
    TOOL_ATTACHES=1 tool "$TOOL" "$@" || fail "$*, later: $(cat "$ERR")"
    lines 1 '^SERVERS SUCCESS 1 serving$' "$OUT"
    lines 1 '^OK tool$' "$OUT"
}

finds_none() {
    tool "$TOOL" "$@" && fail "$*: a server was found"
    lines 1 '^INIT UNREACHABLE' "$OUT"
}

every_file_is_there_and_leads_to_it() {
    local file
    TOOL=ours
    serve_all
    for file in $OF_SYSTEM; do finds file "$SYSTEM_DIR/$file"; done
    for file in $OF_SERVER; do finds file "$SERVER_DIR/$file"; done
    finds file "$TMPDIR/a/b/launcher"
    finds uri "file:$TMPDIR/a/b/launcher"
    end_server serving
    same "" "$(find "$TMPDIR" -mindepth 1 ! -path "$SYSTEM_DIR" | tr '\n' ' ')" "left behind"
    rmdir "$SYSTEM_DIR"
}

every_way_needs_one_file() {
    TOOL=ours
    serve_all
    only "node/pmix.sys.$HOST" && finds system && finds first && finds order PMIX_CONNECT_TO_SYSTEM
    only "node/pmix.sched.$HOST" && finds sched && finds order PMIX_CONNECT_TO_SYSTEM,PMIX_CONNECT_TO_SCHEDULER
    finds_none any # which does not count as a server for everybody
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
    only all
    end_server serving
    rmdir "$SYSTEM_DIR"
}

# Those that it knows the names of, in the folder where it looks.
debian_finds_ours() {
    need_debian_headers
    TOOL=debian
    serve_all
    only "node/pmix.sys.$HOST" && finds system && finds first
    export PMIX_SYSTEM_TMPDIR=$SERVER_DIR # where 4.2 looks for those of sessions, too
    only "session/pmix.$HOST.tool" && finds any
    only "session/pmix.$HOST.tool.$SERVER_ID" && finds pid "$SERVER_ID"
    only "session/pmix.$HOST.tool.serving" && finds nspace serving
    finds file "$TMPDIR/a/b/launcher"
    only all
    end_server serving
    rmdir "$SYSTEM_DIR"
}

# The port of a server that is no more is somebody else's now.
taken_port() {
    is_root || skip "needs root, to be somebody else"
    local port
    OUT=$TMP/log/taken.out start python3 -c '
import os, socket
os.setgroups([])
os.setresgid(12345, 12345, 12345)
os.setresuid(12345, 12345, 12345)
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
for i in range(2): # it tries again once
    print(s.accept()[0].recv(100), flush=True)'
    until_true 20 test -s "$TMP/log/taken.out" || fail "nobody takes a port"
    port=$(cat "$TMP/log/taken.out")
    printf 'gone.0;tcp4://127.0.0.1:%s\n4.2.9\n%s\n0:0\n\n' "$port" "$$" >"$TMPDIR/pmix.sys.$HOST"
    chmod 600 "$TMPDIR/pmix.sys.$HOST"
    tool ours system && fail "it believes a stranger"
    lines 1 '^INIT UNREACHABLE' "$OUT"
    lines 1 "what listens at tcp4://127.0.0.1:$port is uid 12345's, not uid 0's" "$ERR"
    await "$PID" 10
    lines 2 "^b''\$" "$TMP/log/taken.out" # not a byte
    rm "$TMPDIR/pmix.sys.$HOST"
}

events() {
    local out pid
    need_debian_headers
    serve "$2" serving tool
    OUT=$TMP/log/events.out TOOL_WAITS=-145 LD_LIBRARY_PATH=$LIBDIR start "$PROGRAMS/tool" any
    out=$TMP/log/events.out pid=$PID
    until_true 20 grep -q LISTENING "$out" || fail "the tool does not listen: $(cat "$out")"
    echo event >&"$SERVER_FD"
    await "$pid" 30
    same 0 "$RC" "exit status of the tool: $(cat "$out")"
    lines 1 '^EVENT -145 ' "$out"
    end_server serving
}

lost() {
    local out pid
    need_debian_headers
    serve "$2" serving tool
    OUT=$TMP/log/lost.out TOOL_WAITS=-61 LD_LIBRARY_PATH=$LIBDIR start "$PROGRAMS/tool" any
    out=$TMP/log/lost.out pid=$PID
    until_true 20 grep -q LISTENING "$out" || fail "the tool does not listen: $(cat "$out")"
    echo die >&"$SERVER_FD"
    await "$pid" 30
    same 0 "$RC" "exit status of the tool: $(cat "$out")"
    lines 1 '^EVENT -61 serving$' "$out"
    # What it left behind leads nowhere, and nobody waits for it.
    tool ours any && fail "a dead server was found"
    lines 1 '^INIT UNREACHABLE' "$OUT"
    tool ours optional || fail "optional: $(cat "$ERR")"
    lines 1 '^INIT SUCCESS tool\.' "$OUT"
    lines 1 '^SERVERS UNREACHABLE 0' "$OUT"
    await "$SERVER_PID" 5
    rm -rf "${TMPDIR:?}"/*
}

two() {
    local first first_fd first_pid
    need_debian_headers
    serve "$2" one tool
    first=$(uri_of one) first_fd=$SERVER_FD first_pid=$SERVER_PID
    serve "$3" two tool
    TOOL_SECOND=$(uri_of two) tool "$1" uri "$first" || fail "exit status $?: $(cat "$ERR")"
    lines 1 '^SECOND two$' "$OUT"
    lines 2 '^QUERY SUCCESS jobs-of-one$' "$OUT"
    lines 1 '^QUERY SUCCESS jobs-of-two$' "$OUT"
    lines 2 '^SERVERS SUCCESS 1 one$' "$OUT"
    # The name stays, wherever it came from.
    lines 1 '^tool given-1 0$' "$TMPDIR/two.out"
    lines 1 '^OK tool$' "$OUT"
    end_server two
    close_server "$first_fd" "$first_pid" one
}

refused() {
    need_debian_headers
    serve "$2" serving tool refuse
    tool "$1" any && fail "a refused tool is connected"
    lines 1 '^INIT UNREACHABLE' "$OUT"
    end_server serving
}

# The server's owner is a plain user, and so is the tool.
unprivileged() {
    need_debian_headers
    is_root || skip "needs root, to be somebody else"
    has setpriv || skip "needs setpriv"
    chmod 1777 "$TMPDIR"
    chmod 755 "$TMP/bin"
    [ -r "$LIBDIR/libpmix.so.2" ] && setpriv --reuid 12345 --regid 12345 --clear-groups test -r "$LIBDIR/libpmix.so.2" ||
        skip "another user cannot read the build folder"
    mkfifo -m 666 "$TMPDIR/serving.in"
    LD_LIBRARY_PATH=$(lib_of "$2") TOOL_HOST_JOBS=jobs-of-serving ASAN_OPTIONS=$NO_LEAK_CHECK in_case_at "$TMPDIR/serving.in" \
        "$TMPDIR/serving.out" setpriv --reuid 12345 --regid 12345 --clear-groups "$(host_of "$2")" serving tool
    SERVER_PID=$PID
    exec {SERVER_FD}>"$TMPDIR/serving.in"
    until_true 20 grep -q '^ready' "$TMPDIR/serving.out" || fail "not ready: $(cat "$TMPDIR/serving.out")"
    LD_LIBRARY_PATH=$LIBDIR run 60 setpriv --reuid 12345 --regid 12345 --clear-groups \
        "$PROGRAMS/tool" any >"$OUT" 2>"$ERR" || fail "the same user: $(cat "$ERR")"
    sees serving given-1
    # Another one does not even believe the file.
    LD_LIBRARY_PATH=$LIBDIR run 60 setpriv --reuid 12346 --regid 12346 --clear-groups \
        "$PROGRAMS/tool" any >"$OUT" 2>"$ERR" && fail "a file of another user was believed"
    lines 1 '^INIT UNREACHABLE' "$OUT"
    end_server serving
}
lib_of() { [ "$1" = ours ] && echo "$LIBDIR" || echo "$DEBIAN_DIR"; }
host_of() { [ "$1" = ours ] && echo "$PROGRAMS/tool_host" || echo "$TMP/bin/tool_host"; }

# Tools of other users, at a server of ours that allows them, or does not. Its files are then for
# all to read; our own tools believe only those of root.
foreign() { # ATTRIBUTE STATUS
    is_root || skip "needs root, to be somebody else"
    has setpriv || skip "needs setpriv"
    setpriv --reuid 12345 --regid 12345 --clear-groups test -r "$LIBDIR/libpmix.so.2" ||
        skip "another user cannot read the build folder"
    serve ours serving tool "$1"
    same "$3" "$(stat -c %a "$TMPDIR/pmix.$HOST.tool.serving")" "mode of the file"
    LD_LIBRARY_PATH=$LIBDIR run 60 setpriv --reuid 12345 --regid 12345 --clear-groups \
        "$PROGRAMS/tool" uri "$(uri_of serving)" >"$OUT" 2>"$ERR" || true
    lines 1 "^INIT $2" "$OUT"
    [ "$2" != SUCCESS ] || lines 1 '^uid of-tool 12345$' "$SERVER_OUT"
    end_server serving
}

# Without being asked to, a server admits no tools and writes no files.
closed() {
    local uri
    serve ours serving
    [ -z "$(find "$TMPDIR" -name 'pmix.*')" ] || fail "it wrote files: $(ls "$TMPDIR")"
    end_server serving
}

# The file of a server that was killed is in the way of nobody, and goes when the next one starts. (The
# component is one that leaves it there: root's servers do without, others until then.)
stale() {
    export PMIX_MCA_pcleanup=inproc
    serve ours serving tool system
    unset PMIX_MCA_pcleanup
    echo die >&"$SERVER_FD"
    await "$SERVER_PID" 10
    eval "exec $SERVER_FD>&-"
    rm -f "$TMPDIR"/serving.*
    [ -f "$TMPDIR/pmix.sys.$HOST" ] || fail "it left no file"
    serve ours serving tool system
    tool ours system || fail "exit status $?: $(cat "$ERR")"
    sees serving given-1
    # But while one lives there is no other.
    LD_LIBRARY_PATH=$LIBDIR run 20 "$PROGRAMS/tool_host" other tool system >"$OUT" 2>"$ERR" && fail "there are two"
    lines 1 '^failed ' "$OUT"
    lines 1 "$TMPDIR/pmix.sys.$HOST is that of a server that runs: pid $SERVER_PID " "$ERR"
    tool ours system || fail "exit status $?: $(cat "$ERR")"
    lines 1 '^SERVERS SUCCESS 1 serving$' "$OUT"
    end_server serving
}

t every-way-of-debian every_way debian debian
t every-way-at-debian every_way ours debian
t events-at-debian events ours debian
t loss-of-debian lost ours debian
t two-debian two ours debian debian
t unprivileged-at-debian unprivileged ours debian
t every-way-at-ours every_way ours ours
t every-way-of-debian-at-ours every_way debian ours
t events-at-ours events ours ours
t loss-of-ours lost ours ours
t two-of-each two ours debian ours
t two-ours two ours ours ours
t two-ours-for-debian two debian ours ours
t refused-by-ours refused ours ours
t unprivileged-at-ours unprivileged ours ours
t foreign-allowed foreign foreign SUCCESS 644
t foreign-refused foreign domestic UNREACHABLE 600
t closed-to-tools closed
t stale-files stale
t every-file-of-ours every_file_is_there_and_leads_to_it
t every-way-needs-one-file every_way_needs_one_file
t files-of-ours-for-debian debian_finds_ours
t port-of-somebody-else taken_port
suite_end
