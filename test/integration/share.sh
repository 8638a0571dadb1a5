#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Data that clients read in place. A client that cannot read in place is only slower, and other clients are not
# affected. Counts of system calls without faults.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin share "$@"
HINDER=$PROGRAMS/libhinder.so
INFO='is sent all data in messages'

need_shm() { [ -e "$LIBDIR/pmix/pmix_mca_tenon_gds_shm.so" ] || skip "needs gds/shm"; }

# job HOW...: a job of three, with HOW before rank 1's program, and a second job that it spawns. Expects that all data
# is read. MESSAGES: number of processes that get messages instead of shared memory
job() {
    $NEED
    well env PMIX_MCA_mca_base_verbose=info "${SERVER_ENV[@]}" "$PMIXRUN" -n 3 \
        sh -c 'if [ "$PMIX_RANK" = 1 ]; then exec "$@"; fi; while [ "$1" != -- ]; do shift; done; shift; exec "$@"' \
        sh "$@" env -- "$CLIENT" shared "$SIZE" spawn "$CLIENT"
    lines 5 '^OK shared [0-2]$' "$OUT"
    [ -z "$MESSAGES" ] || lines "$MESSAGES" "$INFO" "$ERR"
}
NEED=need_shm SERVER_ENV=(A=b) SIZE=1000 MESSAGES=0

of_a_client() { # of_a_client MESSAGES HOW...: small values, and values larger than a first window
    MESSAGES=$1
    for SIZE in 1000 400000; do job "${@:2}"; done
}

# The rank has the least number of descriptors to begin, so the store's descriptor exceeds the limit.
few_descriptors() {
    local n MESSAGES=1
    need_shm
    for ((n = 6; n < 40; n++)); do
        ! (job sh -c "ulimit -n $n && exec \"\$@\"" sh) 2>/dev/null || break
    done
    [ $n -lt 40 ] || fail "no limit lets it begin: $(tail -1 "$ERR")"
}

of_the_server() { # of_the_server WHAT TIMES: the call fails from the first time on, and from each later time on
    local after
    MESSAGES=
    for ((after = 0; after < $2; after++)); do
        SERVER_ENV=(LD_PRELOAD="$HINDER" HINDER="$1" HINDER_AFTER=$after)
        for SIZE in 1000 400000; do job env -u LD_PRELOAD; done
        [ "$1" != memfd ] || lines 2 'cannot share the data of' "$ERR" # of each job
    done
}

little_memory() {
    SERVER_ENV=(PMIX_MCA_gds_shm_limit=256K) MESSAGES=
    for SIZE in 1000 60000 400000; do job env; done
}

messages_alone() {
    NEED=true SERVER_ENV=(PMIX_MCA_gds=hash)
    for SIZE in 1000 400000; do job env; done
}

other_mounts() {
    unshare -m true 2>/dev/null || skip "needs the right to make a mount namespace"
    MESSAGES=1
    job unshare -m sh -c 'mount -t tmpfs none "$PMIX_SERVER_TMPDIR" && exec "$@"' sh
}

# Growing values make the server begin another file, and notify its clients. Values of the same size
# do not.
new_files() {
    has strace || skip "needs strace"
    local growth n
    for growth in 100000 0; do
        SERVER_ENV=(ROUNDS=20 GROWTH=$growth strace -f -qq -e trace=memfd_create -o "$TMP/files") SIZE=800000
        job env
        n=$(grep -c ' = [0-9]' "$TMP/files")
        [ "$growth" = 0 ] || [ "$n" -gt 3 ] || fail "no file was given up"
        [ "$growth" != 0 ] || [ "$n" -le 3 ] || fail "$n files for three jobs"
    done
}

a_foreign_client() { # caches each value
    need_debian_lib
    SERVER_ENV=(ROUNDS=1)
    job env LD_LIBRARY_PATH="$DEBIAN_DIR"
    loaded_libs | grep -q "^client $DEBIAN_DIR" || fail "no rank used $DEBIAN_LIB"
}

# ---- counts -------------------------------------------------------------------------------------

# trace N: writes the system calls of each rank into files
trace() {
    need_shm
    has strace || skip "needs strace"
    well env TRACE="$TMP/trace.$1" "$PMIXRUN" -n "$1" \
        sh -c 'exec strace -f -o "$TRACE.$PMIX_RANK" "$@"' sh "$CLIENT" shared 1000
    lines "$1" '^OK shared' "$OUT"
}

# calls FILE PART: prints the system calls of all threads between two getppid() of the program
calls() { awk -v part="$2" '/ getppid\(/ { n++ } /getppid/ { next } n == part' "$1"; }
# own_calls FILE PART: as calls, but only of the thread that calls getppid()
own_calls() { awk -v part="$2" '/ getppid\(/ { n++; own = $1 } /getppid/ { next } n == part && $1 == own' "$1"; }

received_b() { # received_b FILE: prints the total of received bytes
    sed -nE 's/.*recvmsg.* = ([0-9]+)$/\1/p' "$1" | awk '{ n += $1 } END { print n + 0 }'
}

counts() {
    local n f part few=0 many
    for n in 2 8; do
        trace $n
        for f in "$TMP/trace.$n".*; do
            for part in 2 3 6 7; do # job information, values; twice
                same "" "$(own_calls "$f" $part | head -1)" "a system call of part $part"
            done
            for part in 1 5; do # a fence that collects
                calls "$f" $part >"$TMP/fence"
                lines 1 ' sendmsg\(' "$TMP/fence"
                lines 0 'recvmsg.* = [1-9]' "$TMP/fence" # the futex ends the fence
            done
            calls "$f" 9 >"$TMP/own" # a fence of the rank alone, which no futex ends
            lines 0 'futex_waitv' "$TMP/own"
            many=$(received_b "$f")
            [ $few = 0 ] || [ $((many - few)) -lt 32 ] || fail "$few bytes of 2 ranks, $many of $n"
        done
        [ $few != 0 ] || few=$many
    done
}

# Fences without data, and groups of the job: each rank sends one message and receives none. The server wakes all
# ranks by one call.
futex() { # futex PROGRAM
    need_shm
    has strace || skip "needs strace"
    export ROUNDS=200
    well strace -f -qq -e trace=sendmsg,recvmsg,recvfrom,epoll_wait,futex,fstat,newfstatat -o "$TMP/all" \
        "$PMIXRUN" -n 4 "$CLIENT" "$1"
    lines 4 "^OK $1" "$OUT"
    awk '/sendmsg\(/ { s++ } /recv(from|msg)\(.*= [1-9]|recv(from|msg) resumed.*= [1-9]/ { r++ }
        /futex\(.*FUTEX_WAKE, 2147483647/ { w++; looked += more; more = 0 } w && /fstat/ { more++ }
        END { print s + 0, r + 0, w + 0, looked + 0 }' "$TMP/all" >"$TMP/n"
    read -r sent received woken looked <"$TMP/n"
    [ "$sent" -ge 800 ] && [ "$sent" -le 900 ] || fail "$sent messages of 4 ranks in 200 $1"
    [ "$received" -ge 800 ] && [ "$received" -le 900 ] || fail "$received were read"
    [ "$woken" -ge 200 ] && [ "$woken" -le 210 ] || fail "$woken wake-ups"
    [ "$looked" -le 10 ] || fail "$looked looks at a file that is the same"
}

# As before, on a kernel that cannot wait for two words: messages, after the first time.
deaf() {
    need_shm
    has strace || skip "needs strace"
    export ROUNDS=5
    well strace -f -qq -e trace=futex_waitv -e inject=futex_waitv:error=ENOSYS -o "$TMP/deaf" \
        "$PMIXRUN" -n 2 "$CLIENT" fences
    lines 2 '^OK fences' "$OUT"
    lines 2 ENOSYS "$TMP/deaf" # each asks once
}

t messages_alone messages_alone
t no_memfd of_the_server memfd 1
t no_space of_the_server space "$(times 4 12)"
t little_memory little_memory
t a_client_cannot_map of_a_client 1 env LD_PRELOAD="$HINDER" HINDER=map
t a_client_cannot_map_more of_a_client '' env LD_PRELOAD="$HINDER" HINDER=map HINDER_AFTER=1
t a_client_over_tcp of_a_client 1 env -u TENON_SERVER_URI
t a_client_without_descriptors few_descriptors
t a_client_with_other_mounts other_mounts
t a_foreign_client a_foreign_client
t new_files new_files
t counts counts
t one_futex_ends_a_fence futex fences
t one_futex_makes_a_group futex constructs
t a_kernel_without_waitv deaf
suite_end
