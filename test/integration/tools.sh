#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that ask a server: pps, pquery and the others, at pmixrun and at the servers of other projects. The last
# cases check the table of docs/tools.md.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin tools "$@"

TOOLS=(palloc pattrs pctrl pevent plookup pps pquery)
tool() { echo "$BUILD/contrib/tools/$1"; }

# serve ARGUMENT...: starts pmixrun with a job of two ranks, which end by a file or a signal
serve() {
    GO=$TMPDIR/go
    OUT=$TMPDIR/ranks ERR=$TMPDIR/ranks.err start "$PMIXRUN" "$@" -n 2 sh -c \
        'echo up $$; while ! test -f "$0"; do sleep 0.05; done' "$GO"
    SERVER=$PID
    await_lines 2 '^up' "$TMPDIR/ranks"
}

# ends STATUS: the job ends, and pmixrun with this status
ends() {
    touch "$GO"
    await "$SERVER" 20
    same "$1" "$RC" "exit status of pmixrun: $(cat "$TMPDIR/ranks.err")"
    rm -f "$GO" "$TMPDIR"/ranks "$TMPDIR"/ranks.err
}

# ask TOOL ARGUMENT...: asks the server that runs; expects success
ask() { well "$(tool "$1")" --pid "$SERVER" "${@:2}"; }
# refused STATUS REGEX TOOL ARGUMENT...: expects a failure, and one line that matches
refused() {
    rc_of "$1" run 60 "$(tool "$3")" "${@:4}" >"$OUT" 2>"$ERR"
    lines 1 "$2" "$ERR"
}
# json EXPRESSION [FILE]: prints an expression of Python about the JSON d
json() { python3 -c 'import json, sys; d = json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$1" "${2:-$OUT}"; }
job_of() { ask pps --parsable && awk -F: 'NR == 1 { print $3 }' "$OUT"; }
state_of() { ps -o stat= -p "$1" | cut -c1; }
is_in_state() { [ "$(state_of "$2")" = "$1" ]; }

# ---- texts ------------------------------------------------------------------------------------------

# completes TOOL WORD...: prints the words that bash offers for the last word
completes() {
    "$(tool "$1")" --completion bash >"$TMPDIR/completion"
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1"; echo "${COMPREPLY[@]}"' \
        bash "$TMPDIR/completion" "$@"
    rm "$TMPDIR/completion"
}

texts() {
    local name
    for name in "${TOOLS[@]}" pmixcc pmix_info; do
        well "$(tool "$name")" --help
        lines 1 "^usage: $name \[OPTIONS\]" "$OUT"
        lines 0 '.{81}' "$OUT"
        well "$(tool "$name")" --version
        lines 1 "^$name, .*Tenon" "$OUT"
        [ "$name" = pmix_info ] && cp "$SOURCE/docs/man/$name.1" "$OUT" || well "$(tool "$name")" --man
        lines 1 "^\.TH ${name^^} 1 " "$OUT"
        ! has man || [ -z "$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -l "$OUT" 2>&1 >/dev/null)" ] ||
            fail "man(1) warns of the page of $name"
        well "$(tool "$name")" --completion zsh
        lines 1 "^#compdef $name\$" "$OUT"
        ! has zsh || zsh -n "$OUT" || fail "zsh cannot read the completion of $name"
        [ "$name" = pmixcc ] || same --completion "$(completes "$name" --compl)" "completion of $name"
    done
    same "bash zsh" "$(completes pps --completion '')" "words of an option"
    same "" "$(completes pps --pid '')" "an argument without words"
    same "libdir" "$(completes pmix_info --path libd)" "words of an option of pmix_info"
}

# Each option of OpenPMIx's program of this name, and each mistake.
command_lines() {
    local server='--pid 1 --namespace x --uri x --tmpdir /tmp --wait-to-connect 1 --num-connect-retries 1'
    server+=' --system-server-first --pmixmca a b -v'
    while read -r name words; do
        # shellcheck disable=SC2086
        well "$(tool "$name")" $words --version
        lines 1 "^$name, " "$OUT"
    done <<END
pps $server --nodes --system-server
pquery $server --system-server
pattrs $server --do-not-connect --client PMIx_Get --server all --tool all --host all
pattrs --client-fns --server-fns --tool-fns --host-fns
pevent $server --range local --event 5
plookup --pid 1 --tmpdir /tmp --wait 1 --timeout 5
pctrl $server --nspace x --system-server-only --request-id a --pause --resume --kill --terminate --signal TERM
palloc $server --nspace x --request-id a -q b -N 1 -i c -x d --wait-all-nodes -w e -t 5 -s --extend --begin f -I -d g
palloc --shrink --no-shell --do-not-wait --connect-order x --system-controller --scheduler
pctrl --cancel all --restart x --checkpoint y --pset z --targets a:1,b:*
END
    while read -r name words; do
        # shellcheck disable=SC2086
        rc_of 2 run 20 "$(tool "$name")" $words >"$OUT" 2>"$ERR"
        lines 1 "^$name: .*; see $name --help\$" "$ERR"
    done <<END
pps --nonsense
pps --pid
pps --pid x
pps --pid 0
pps --pid file:/nowhere
pps --json=yes
pps --p 1
pps operand
pps --completion fish
pquery --job a:b --do-not-connect
pquery --do-not-connect x[a=b
pquery --do-not-connect x[a:nothing=b]
pquery --do-not-connect x[a:int=b]
pattrs --client
pevent --do-not-connect
pevent --do-not-connect NO_SUCH_EVENT
pevent --do-not-connect --follow --to a:1
pevent --range everywhere 5
pctrl --do-not-connect x
pctrl --do-not-connect --pause
pctrl --do-not-connect --pause --all x
pctrl --signal NOTHING x
pctrl --pause --targets :1
pctrl --pause x:3-1 --do-not-connect
palloc --do-not-connect --extend --shrink
palloc --do-not-connect --extend true
plookup --do-not-connect
plookup --range everywhere x
plookup --wait x y
pmixcc
pmixcc --showme:nothing
END
}

nothing_there() {
    local name
    for name in "pps" "pquery x" "pattrs" "pctrl --pause x" "pevent 5" "plookup x"; do
        # shellcheck disable=SC2086
        refused 1 "cannot connect to a server: " $name
    done
}

# ---- pps --------------------------------------------------------------------------------------------

shows() { # ARGUMENT...: of pmixrun
    local pids
    serve "$@"
    ask pps
    lines 1 '^node +job +rank +pid +state +CPU s +CPU % +memory MB +program$' "$OUT"
    lines 2 " (0|1) +[0-9]+ +running +[0-9.]+ +- +[0-9.]+ +[^ ]*sh\$" "$OUT"
    ask pps --json
    pids=$(sed -n 's/^up //p' "$TMPDIR/ranks" | sort -n | tr '\n' ' ')
    same "$pids" "$(json '" ".join(str(n) for n in sorted(p["pid"] for p in d["processes"])) + " "')" "pids"
    same "[0, 1]" "$(json '[p["rank"] for p in d["processes"]]')" "ranks"
    same "$(uname -n) True" "$(json 'd["processes"][0]["node"], d["processes"][0]["memory_mb"] > 0' | tr -d "(),'")" "a rank"
    ask pps --nodes --parsable
    lines 1 "^nodes:$(uname -n):2:[0-9.]+:[0-9.]+\$" "$OUT"
    refused 1 'cannot list the processes of nothing: ' pps --pid "$SERVER" --job nothing
    ends 0
}

watches() {
    serve
    OUT=$TMPDIR/watched ERR=$TMPDIR/watched.err start "$(tool pps)" --pid "$SERVER" --watch=1 --json
    local watcher=$PID
    until_true 20 has_lines 2 . "$TMPDIR/watched" || fail "no second table"
    tail -1 "$TMPDIR/watched" >"$TMPDIR/last"
    same True "$(json 'all(p["cpu_percent"] is not None for p in d["processes"])' "$TMPDIR/last")" "the shares"
    ends 0
    await "$watcher" 20
    same 0 "$RC" "exit status of pps: $(cat "$TMPDIR/watched.err")"
    rm "$TMPDIR"/watched* "$TMPDIR/last"
}

# ---- pquery, pattrs ---------------------------------------------------------------------------------

# answers PART KEY: expects that the part answers the key
answers() {
    ask pquery --parsable "$2"
    lines 1 "^answers:[A-Za-z_.]+:$1:.+:(PMIX_)?SUCCESS\$" "$OUT"
}

sources() {
    serve
    answers library PMIX_QUERY_STABLE_ABI_VERSION
    answers library PMIX_QUERY_AVAIL_SERVERS
    answers server PMIX_QUERY_NUM_PSETS
    answers server PMIX_SERVER_URI
    answers server PMIX_QUERY_NAMESPACES
    answers server pmix.qry.nsinfo
    ask pquery --json "PMIX_JOB_SIZE[PMIX_NSPACE=$(job_of)]"
    same "2 server" "$(json '"%d %s" % (d["answers"][0]["value"], d["answers"][0]["by"])')" "the size of the job"
    ask pquery --json --job "$(job_of):1" PMIX_PROC_PID
    same "$(ps -o pid= -p "$(json 'd["answers"][0]["value"]')" | tr -d ' ')" "$(json 'd["answers"][0]["value"]')" "a process"
    ask pquery # all keys
    lines 1 'pmix\.qry\.ptable' "$OUT"
    refused 1 'cannot answer no\.such\.key: unknown key: no part has an answer$' pquery --pid "$SERVER" no.such.key
    refused 1 'cannot answer PMIX_QUERY_NAMESPACES: no server is connected$' pquery --do-not-connect PMIX_QUERY_NAMESPACES
    ends 0
}

# A server with a host of its own, which answers first.
host_answers() {
    mkfifo "$TMPDIR/in"
    IN=$TMPDIR/in OUT=$TMPDIR/host TOOL_HOST_JOBS=jobs start "$PROGRAMS/tool_host" serving tool
    SERVER=$PID
    local in
    exec {in}>"$TMPDIR/in"
    await_lines 1 '^ready' "$TMPDIR/host"
    answers host PMIX_QUERY_NAMESPACES
    answers server PMIX_QUERY_NUM_PSETS
    exec {in}>&-
    await "$SERVER" 20
    rm "$TMPDIR/in" "$TMPDIR/host"
}

attributes() {
    serve
    ask pattrs --json
    same "['client', 'host', 'server', 'tool']" "$(json 'sorted({a["part"] for a in d["attributes"]})')" "parts"
    same True "$(json 'any(a["function"] == "PMIx_Get" and a["attribute"] == "PMIX_TIMEOUT" for a in d["attributes"])')" "PMIx_Get"
    ask pattrs --host PMIx_Spawn --client-fns --parsable
    lines 1 '^functions:client:PMIx_Get$' "$OUT"
    lines 1 '^attributes:host:PMIx_Spawn:PMIX_MAPBY:pmix\.mapby:PMIX_STRING:' "$OUT"
    lines 0 '^attributes:[^:]+:PMIx_Get:' "$OUT"
    ends 0
    well "$(tool pattrs)" --do-not-connect --client PMIx_Get
    lines 1 ' PMIX_GET_REFRESH_CACHE ' "$OUT"
    refused 1 'cannot list the attributes of the client: ' pattrs --do-not-connect --client PMIx_Nothing
}

# ---- pevent -----------------------------------------------------------------------------------------

# listen ARGUMENT...: starts pevent, which prints into TMPDIR/events
listen() {
    : >"$TMPDIR/events.err" # the line of the listener before must not be found
    OUT=$TMPDIR/events ERR=$TMPDIR/events.err start "$(tool pevent)" --pid "$SERVER" "$@"
    LISTENER=$PID
    await_lines 1 '^pevent: waiting for events$' "$TMPDIR/events.err"
}
listener_ends() { # STATUS: pevent ends with this status
    await "$LISTENER" 20
    same "$1" "$RC" "exit status of pevent: $(cat "$TMPDIR/events.err")"
}

events() {
    serve
    listen --await -3001
    ask pevent --info PMIX_EVENT_TEXT_MESSAGE=hello --info my.number:int=7 -- -3001
    listener_ends 0
    same "-3001 hello 7" "$(json '"%d %s %d" % (d["code"], d["info"]["PMIX_EVENT_TEXT_MESSAGE"], d["info"]["my.number"])' "$TMPDIR/events")" \
        "the event"
    listen --await --timeout 1 -- -3002
    listener_ends 124
    listen --follow
    ask pevent --range local -- -3003
    ask pevent -3004
    await_lines 1 '"code":-3004' "$TMPDIR/events"
    ends 0
    listener_ends 0
    lines 1 '"code":-3003' "$TMPDIR/events"
    lines 1 '"event":"[A-Z_-]*LOST[_-]CONNECTION"' "$TMPDIR/events"
    rm "$TMPDIR"/events*
}

# ---- pctrl ------------------------------------------------------------------------------------------

controls() {
    local job first second
    serve
    job=$(job_of)
    ask pps --json
    first=$(json 'd["processes"][0]["pid"]') second=$(json 'd["processes"][1]["pid"]')
    ask pctrl --pause "$job:0"
    until_true 10 is_in_state T "$first" || fail "rank 0 goes on"
    ! is_in_state T "$second" || fail "rank 1 is paused, too"
    ask pctrl --resume "$job:0-1"
    until_true 10 is_in_state S "$first" || fail "rank 0 does not go on"
    ask pctrl --pset both --targets "$job:0,$job:1"
    ask pctrl --signal SIGSTOP --set both
    until_true 10 is_in_state T "$second" || fail "rank 1 goes on"
    ask pctrl --signal cont "$job"
    refused 1 'cannot control the processes: ' pctrl --pid "$SERVER" --checkpoint x "$job"
    refused 1 'cannot find the process set nothing: ' pctrl --pid "$SERVER" --pause --set nothing
    refused 1 'cannot control the processes: ' pctrl --pid "$SERVER" --pause "$job:7"
    kill -0 "$first" "$second" || fail "a refused order ended a process"
    ask pctrl --kill "$job"
    ends 137
}

# ---- plookup ----------------------------------------------------------------------------------------

looks_up() {
    start "$PMIXRUN" -n 1 "$CLIENT" publish
    await "$PID" 30
    serve
    refused 1 '^plookup: nothing is not published$' plookup --pid "$SERVER" nothing
    refused 124 'not all keys are published within 1 seconds$' plookup --pid "$SERVER" --wait 0 --timeout 1 nothing
    ends 0
}

# ---- palloc -----------------------------------------------------------------------------------------

allocations() {
    serve
    rc_of 3 run 60 "$(tool palloc)" --pid "$SERVER" --cpus 1 sh -c 'echo "on $(nproc) in $PWD"; exit 3' >"$OUT" 2>"$ERR"
    lines 1 "^on 1 in $PWD\$" "$OUT"
    OUT=$TMPDIR/held ERR=$TMPDIR/held.err start "$(tool palloc)" --pid "$SERVER" --cpus 1 --hold --parsable
    local holder=$PID
    await_lines 1 '^allocation:PMIX_ALLOC_NUM_CPUS:1$' "$TMPDIR/held"
    ask palloc --status --parsable
    lines 1 ":$(sed -n 's/^allocation:PMIX_ALLOC_ID://p' "$TMPDIR/held")\$" "$OUT"
    kill "$holder"
    await "$holder" 10
    refused 1 'cannot get the allocation: ' palloc --pid "$SERVER" --cpus 100000
    refused 1 'PMIX_ALLOC_QUEUE' palloc --pid "$SERVER" --cpus 1 --queue x
    refused 2 '^palloc: --uid is not supported: ' palloc --uid 5
    ends 3 # of the program
    rm -f "$TMPDIR"/held*
}

# ---- pmixcc -----------------------------------------------------------------------------------------

compiles() {
    install_tree
    has pkg-config || skip "no pkg-config"
    move_tree
    local cc=$TREE/bin/pmixcc
    unset PKG_CONFIG_PATH
    [ -x "$cc" ] || cc=$cc.tenon
    printf '#include <pmix.h>\n#include <stdio.h>\nint main(void) { puts(PMIx_Get_version()); return 0; }\n' >"$TMPDIR/a.c"
    well "$cc" -o "$TMPDIR/a" "$TMPDIR/a.c"
    LD_LIBRARY_PATH=$TREE_LIB well "$TMPDIR/a"
    lines 1 Tenon "$OUT"
    well "$cc" -c -o "$TMPDIR/a.o" "$TMPDIR/a.c"
    well "$cc" --showme:incdirs
    [ -f "$(cut -d' ' -f1 "$OUT")/pmix.h" ] || fail "no pmix.h in $(cat "$OUT")"
    well "$cc" --showme:libs
    lines 1 '^pmix$' "$OUT"
    CC='no-such-compiler' rc_of 127 run 20 "$cc" x.c 2>"$ERR"
    rm -rf "$TMPDIR"/a "$TMPDIR"/a.? "$TMPDIR/moved"
}

# ---- other servers ----------------------------------------------------------------------------------

# rows NAME LAUNCHER...: the rows of a launcher: for a tool, and for a process of its job
rows() {
    local make=(bash "$HERE/tools_row.sh" "$BUILD/contrib/tools")
    GO=$TMPDIR/go
    OUT=$TMPDIR/ranks ERR=$TMPDIR/ranks.err start "${@:2}" -np 2 sh -c \
        'echo up $$; while ! test -f "$0"; do sleep 0.05; done' "$GO"
    SERVER=$PID
    await_lines 2 '^up' "$TMPDIR/ranks"
    row "$1" "${make[@]}" "$1, a tool" --pid "$SERVER"
    ends 0
    # The server of Open MPI 4 serves few requests of its processes. In release 5 all ranks must call PMIx_Init.
    [[ $1 != *"Open MPI"* ]] || return 0
    row "$1" "${@:2}" -np 2 sh -c \
        'if [ "$PMIX_RANK" = 0 ]; then "$@"; touch "$0"; else while ! test -f "$0"; do sleep 0.05; done; fi' \
        "$GO" "${make[@]}" "$1, a process of the job"
    rm -f "$GO"
}

at_pmixrun() { rows '`pmixrun`' "$PMIXRUN"; }

# Open MPI's launcher: with OpenPMIx in release 4, with PRRTE in release 5.
at_mpirun() {
    local mpirun version
    mpirun=$(command -v mpirun) || skip "Open MPI is not installed"
    version=$("$mpirun" --version | sed -n 's/.*(Open MPI) //p')
    [ -n "$version" ] || skip "mpirun is not that of Open MPI"
    rows "\`mpirun\` of Open MPI $version" "$mpirun"
    rm -rf "$TMPDIR"/ompi.* "$TMPDIR"/prte.* "$TMPDIR"/pmix_dstor_*
}

# Programs of OpenPMIx at our server, where they are installed.
foreign() {
    local pps option
    need_debian_lib
    pps=$(command -v pps) || skip "OpenPMIx's programs are not installed"
    [[ $("$pps" --version) != *Tenon* ]] || skip "pps is not that of OpenPMIx"
    serve
    unset MALLOC_PERTURB_
    for option in "--pid $SERVER" ''; do
        # shellcheck disable=SC2086
        LD_LIBRARY_PATH=$DEBIAN_DIR run 60 "$pps" $option >"$OUT" 2>&1 || fail "exit status $?: $(tail -1 "$OUT")"
        lines 1 '^Active nspaces: tenon-' "$OUT"
    done
    ends 0
}

t texts texts
t command-lines command_lines
t no-server nothing_there
t pps shows
t pps-with-tools shows --tools
t pps-watch watches
t pquery sources
t pquery-host host_answers
t pattrs attributes
t pevent events
t pctrl controls
t plookup looks_up
t palloc allocations
t pmixcc compiles
t at-pmixrun at_pmixrun
t at-mpirun at_mpirun
t openpmix foreign
suite_end
