#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Headers, libraries and servers crossed: client programs compiled with Debian's headers and with
# ours, each run on Debian's library and on ours, each under our server and under Debian's.
. "$(dirname "$0")/lib.sh"
suite_begin cross "$@"

CLIENTS="exchange direct publish events limits resolve connect threads"
RANKS=$(times 2 3)
DEBIAN_DIR=$(dirname "${DEBIAN_LIB:-/nowhere/x}")
# The foreign library has leaks of its own, and its notify crashes when it is answered later.
export HOST_NOTIFY_AT_ONCE=1
NO_LEAK_CHECK=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

build_with_debian_headers() {
    local c
    for c in $CLIENTS abort again system; do
        compile_debian "$c" "$HERE/clients/$c.c" || die "cannot compile clients/$c.c with Debian's headers"
    done
    compile_debian services "$HERE/clients/services.c" &&
        compile_debian services_host "$HERE/host/services_host.c" "${HOST_SOURCES[@]}" ||
        die "cannot compile clients/services.c and its host with Debian's headers"
    compile_debian minihost "$HERE"/host/{minihost,host_system}.c "${HOST_SOURCES[@]}" ||
        die "cannot compile host/minihost.c with Debian's headers"
}

program() { # program HEADERS NAME
    case $1 in debian) echo "$TMP/bin/$2" ;; ours) echo "$PROGRAMS/$2" ;; esac
}
folder() { case $1 in debian) echo "$DEBIAN_DIR" ;; ours) echo "$LIBDIR" ;; esac; }
library() { case $1 in debian) echo "$DEBIAN_LIB" ;; ours) echo "$OUR_LIB" ;; esac; }

# launch SERVER LIBRARY PROGRAM ARGS...: a job of RANKS. The server is pmixrun, or our small host on
# either library: compiled with Debian's headers, or with ours, whose module is longer.
launch() {
    local server=$1 lib
    lib=$(folder "$2")
    shift 2
    case $server in
        pmixrun) run 60 "$PMIXRUN" -n $RANKS -x "LD_LIBRARY_PATH=$lib" "$@" ;;
        host_on_*)
            HOST_CLIENT_LIBRARY=$lib LD_LIBRARY_PATH=$(folder "${server#host_on_}") \
                run 60 "$TMP/bin/minihost" $RANKS "$@"
            ;;
        our_host_on_*)
            HOST_CLIENT_LIBRARY=$lib LD_LIBRARY_PATH=$(folder "${server#our_host_on_}") \
                run 60 "$PROGRAMS/minihost" $RANKS "$@"
            ;;
    esac
}

server_used() {
    case $1 in
        pmixrun) echo 1 pmixrun "$OUR_LIB" ;;
        *host_on_*) echo 1 minihost "$(library "${1##*host_on_}")" ;;
    esac
}

pair() { # pair SERVER HEADERS LIBRARY
    local server=$1 headers=$2 lib=$3 c
    need_debian_headers
    case $server/$lib in
        pmixrun/ours) export STRICT=1 ;;
        *debian*) export ASAN_OPTIONS=$NO_LEAK_CHECK ;;
    esac
    for c in $CLIENTS; do
        launch "$server" "$lib" "$(program "$headers" "$c")" >"$OUT" 2>"$ERR" ||
            fail "$c: exit status $?: $(tail -1 "$ERR")"
        lines $RANKS "^OK $c [0-9]+\$" "$OUT"
    done
    # shellcheck disable=SC2046
    used $(server_used "$server") $(($(wc -w <<<"$CLIENTS") * RANKS)) '[a-z]*' "$(library "$lib")"
    case $server in host_on_debian) rm -rf "$TMPDIR"/pmix_dstor_* "$TMPDIR"/ompi.* ;; esac
}

# What the host knows of the system around the job; or, with pmixrun, does not. Debian's server
# refuses to register a fabric with infos.
system() { # system SERVER HEADERS LIBRARY [PROGRAM]
    local server=$1 headers=$2 lib=$3 c=${4:-system} how=served
    [ "$headers$lib" = oursours ] || need_debian_headers
    case $server/$lib in
        our_host_on_ours/ours) export STRICT=1 ;;
        pmixrun/ours) export STRICT=1 how=refused ;;
        *debian*) export ASAN_OPTIONS=$NO_LEAK_CHECK ;;
    esac
    case $server in *_on_debian) how=served-but-fabrics ;; esac
    launch "$server" "$lib" "$(program "$headers" "$c")" $how >"$OUT" 2>"$ERR" ||
        fail "exit status $?: $(tail -1 "$ERR")"
    lines $RANKS "^OK $c [0-9]+\$" "$OUT"
    # shellcheck disable=SC2046
    used $(server_used "$server") $RANKS "$c" "$(library "$lib")"
    case $server in *_on_debian) rm -rf "$TMPDIR"/pmix_dstor_* "$TMPDIR"/ompi.* ;; esac
}

aborts() { # aborts HEADERS LIBRARY
    need_debian_headers
    [ "$2" = ours ] || export ASAN_OPTIONS=$NO_LEAK_CHECK
    rc_of 17 launch pmixrun "$2" "$(program "$1" abort)" 1 17 >"$OUT" 2>"$ERR"
    lines $RANKS '^up [0-2] pid' "$OUT"
    grep -q 'so the test wanted' "$ERR" || fail "the message of the abort is not shown"
}

# Nobody has started it: it is a job of one.
singleton() { # singleton HEADERS
    local c
    [ "$1" = ours ] || need_debian_headers
    for c in exchange direct resolve again; do
        STRICT=1 LD_LIBRARY_PATH=$LIBDIR run 30 "$(program "$1" "$c")" >"$OUT" 2>"$ERR" ||
            fail "$c: exit status $?: $(head -1 "$ERR")"
        lines 1 "^OK $c 0\$" "$OUT"
    done
    used 4 '[a-z]*' "$OUR_LIB"
}

# What few hosts offer: forwarding, process sets, values of every job, groups.
services() { # services SERVER HEADERS LIBRARY
    local host
    [ "$1$2$3" = oursoursours ] || need_debian_headers
    case $1$3 in *debian*) export ASAN_OPTIONS=$NO_LEAK_CHECK ;; esac
    case $1 in ours) host=$PROGRAMS/services_host ;; debian) host=$TMP/bin/services_host ;; esac
    HOST_CLIENT_LIBRARY=$(folder "$3") LD_LIBRARY_PATH=$(folder "$1") \
        run 60 "$host" "$(program "$2" services)" "$1" >"$OUT" 2>"$ERR" ||
        fail "exit status $?: $(tail -1 "$ERR")"
    lines 2 '^OK services [01]$' "$OUT"
    lines 1 '^OK services_host$' "$OUT"
    used 1 services_host "$(library "$1")" 2 services "$(library "$3")"
    case $1 in debian) rm -rf "$TMPDIR"/pmix_dstor_* "$TMPDIR"/ompi.* ;; esac
}

comes_back() {
    run 60 "$PMIXRUN" -n $RANKS "$PROGRAMS/again" >"$OUT" 2>"$ERR" || fail "$(head -1 "$ERR")"
    lines $RANKS '^OK again [0-2]$' "$OUT"
}

# Debian's own launcher as the server.
mpirun() { # mpirun HEADERS LIBRARY
    local c
    need_debian_headers
    has mpirun.openmpi || skip "Debian's openmpi-bin is not installed"
    export ASAN_OPTIONS=$NO_LEAK_CHECK
    for c in exchange direct limits resolve; do
        run 60 mpirun.openmpi -n 2 -x "LD_LIBRARY_PATH=$(folder "$2")" "$(program "$1" "$c")" \
            >"$OUT" 2>"$ERR" || fail "$c: exit status $?: $(grep -m 1 ': rank' "$ERR")"
        lines 2 "^OK $c [0-9]+\$" "$OUT"
    done
    used 1 'mpirun*' "$DEBIAN_LIB" 8 '[a-z]*' "$(library "$2")"
}

if [ -f "$DEBIAN_INCLUDE/pmix.h" ] && [ -f "$DEBIAN_LIB" ]; then build_with_debian_headers; fi
for headers in debian ours; do
    whose=${headers/ours/our}
    for lib in debian ours; do
        t "pmixrun_with_a_client_of_${whose}_headers_on_${lib/ours/our}_library" pair pmixrun $headers $lib
        t "abort_of_a_client_of_${whose}_headers_on_${lib/ours/our}_library" aborts $headers $lib
    done
    t "debian_server_with_a_client_of_${whose}_headers_on_our_library" pair host_on_debian $headers ours
    t "singleton_of_${whose}_headers_on_our_library" singleton $headers
    t "debian_mpirun_with_a_client_of_${whose}_headers_on_our_library" mpirun $headers ours
done
t debian_server_with_a_client_of_our_headers_on_debian_library pair host_on_debian ours debian
t host_of_debian_headers_on_our_library_with_our_clients pair host_on_ours debian ours
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
t host_of_our_headers_on_our_library_serves_our_headers system our_host_on_ours ours ours
t host_of_our_headers_has_the_newer_slots_too system our_host_on_ours ours ours newer
t pmixrun_offers_nothing_newer system pmixrun ours ours newer
t services_of_our_server_for_our_clients services ours ours ours
t services_of_our_server_for_clients_of_debian_headers services ours debian ours
t services_of_our_server_for_debian_clients services ours debian debian
t services_of_debian_server_for_our_clients services debian ours ours
t services_of_debian_server_for_debian_clients services debian debian debian
t client_inits_again_and_in_a_forked_child comes_back
suite_end
