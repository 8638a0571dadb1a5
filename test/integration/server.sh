#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The server API, from a host's side: the scenarios of host/api_server*.c on our library, and those
# that the reference implementation can play too on Debian's, which proves the test itself; and
# jobs on two "nodes", whose servers are ours, Debian's, or one of each.
. "$(dirname "$0")/lib.sh"
suite_begin server "$@"

DEBIAN_DIR=$(dirname "${DEBIAN_LIB:-/nowhere/x}")
NO_LEAK_CHECK=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

build_with_debian_headers() {
    local f
    mkdir -p "$TMP/bin/clients"
    for f in "$HERE"/clients/*.c; do
        [ "${f##*/}" != newer.c ] || continue # of what those headers do not have
        compile_debian "clients/$(basename "$f" .c)" "$f" || die "cannot compile $f with Debian's headers"
    done
    for f in api_server two_nodes; do
        compile_debian "$f" "$HERE/host/$f"*.c "${HOST_SOURCES[@]}" ||
            die "cannot compile host/$f.c with Debian's headers"
    done
}

ours() {
    run 90 "$PROGRAMS/api_server" "$1" "$PROGRAMS" >"$OUT" 2>"$ERR" || fail "exit status $?: $(tail -1 "$ERR")"
    lines 1 "^OK $1\$" "$OUT"
    used 0 api_server "$OUR_LIB" 0 '[a-z]*' "$OUR_LIB"
}

debians() {
    need_debian_headers
    export ASAN_OPTIONS=$NO_LEAK_CHECK HOST_NOTIFY_AT_ONCE=1
    LD_LIBRARY_PATH=$DEBIAN_DIR run 90 "$TMP/bin/api_server" "$1" "$TMP/bin/clients" >"$OUT" 2>"$ERR" ||
        fail "exit status $?: $(tail -1 "$ERR")"
    lines 1 "^OK $1\$" "$OUT"
    used 0 api_server "$DEBIAN_LIB" 0 '[a-z]*' "$DEBIAN_LIB"
    rm -rf "$TMPDIR"/pmix_dstor_* "$TMPDIR"/ompi.*
}

two_nodes_ours() {
    STRICT=1 run 90 "$PROGRAMS/two_nodes" "$PROGRAMS/nodes" >"$OUT" 2>"$ERR" ||
        fail "exit status $?: $(head -1 "$ERR")"
    lines 4 '^OK nodes [0-3]$' "$OUT"
    used 2 two_nodes "$OUR_LIB" 4 nodes "$OUR_LIB"
}

# How many of the two servers, and how many of the four ranks, used the library: LIBRARY SERVERS RANKS
count_users() {
    local program lib servers=0 ranks=0
    while read -r program lib; do
        is_file "$lib" "$1" || continue
        case $program in two_nodes) servers=$((servers + 1)) ;; nodes) ranks=$((ranks + 1)) ;; esac
    done < <(loaded_libs)
    same "$2 $3" "$servers $ranks" "servers and ranks with $1"
}

folder() { case $1 in debian) echo "$DEBIAN_DIR" ;; ours) echo "$LIBDIR" ;; esac; }

two_nodes_of() { # two_nodes_of LIBRARY LIBRARY [LIBRARY of all ranks]
    local prog=$TMP/bin servers=0 ranks=0 lib
    need_debian_headers
    export ASAN_OPTIONS=$NO_LEAK_CHECK
    [ -z "${3:-}" ] || export HOST_CLIENT_LIBRARY
    [ -z "${3:-}" ] || HOST_CLIENT_LIBRARY=$(folder "$3")
    HOST_NOTIFY_AT_ONCE=1 NODE_LIBRARY_0=$(folder "$1") NODE_LIBRARY_1=$(folder "$2") \
        run 90 "$prog/two_nodes" "$prog/clients/nodes" >"$OUT" 2>"$ERR" ||
        fail "exit status $?: $(head -1 "$ERR")"
    lines 4 '^OK nodes [0-3]$' "$OUT"
    for lib in "$1" "$2"; do
        [ "$lib" != ours ] || servers=$((servers + 1))
        [ "${3:-$lib}" != ours ] || ranks=$((ranks + 2))
    done
    count_users "$OUR_LIB" $servers $ranks
    # the program that starts the two is on Debian's, as it was linked
    count_users "$DEBIAN_LIB" $((3 - servers)) $((4 - ranks))
    rm -rf "$TMPDIR"/pmix_dstor_* "$TMPDIR"/ompi.*
}

if [ -f "$DEBIAN_INCLUDE/pmix.h" ] && [ -f "$DEBIAN_LIB" ]; then build_with_debian_headers; fi
while read -r scenario; do
    t "${scenario% \*}" ours "${scenario% \*}"
    case $scenario in *\*) t "debian_${scenario% \*}" debians "${scenario% \*}" ;; esac
done < <("$PROGRAMS/api_server")
t two_nodes_exchange_data two_nodes_ours
t two_nodes_with_debian_clients two_nodes_of ours ours debian
t two_nodes_one_of_them_debian two_nodes_of ours debian
t two_nodes_the_other_one_debian two_nodes_of debian ours
t debian_two_nodes_exchange_data two_nodes_of debian debian
suite_end
