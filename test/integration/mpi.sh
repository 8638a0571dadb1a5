#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unmodified MPI programs, compiled by Debian's mpicc, in all four pairings of launcher and
# library; with 4 ranks, in the long form also 2 and 8, and each checked for whose libpmix it really was.
#   a  our pmixrun, Debian's library in the program       b  our pmixrun, our library
#   c  Debian's mpirun, our library in both               d  Debian's mpirun, ours in the ranks only
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin mpi "$@"

MPIRUN=mpirun.openmpi
MPICC=mpicc.openmpi
SIZES=4
[ "$(times 0 1)" = 0 ] || SIZES="2 4 8"

build_programs() {
    local p
    for p in hello ring coll stay; do
        "$MPICC" -O1 -g -Wall -o "$TMP/bin/$p" "$HERE/mpi/$p.c" || die "cannot compile mpi/$p.c"
    done
}

need_mpi() {
    has "$MPIRUN" || skip "Debian's openmpi-bin is not installed"
    [ -x "$TMP/bin/hello" ] || skip "Debian's libopenmpi-dev is not installed"
    need_debian_lib
}

# A library with sanitizers only loads into programs that have them too.
need_plain_library() {
    [ -z "$SANITIZE" ] || skip "a sanitized library cannot be loaded into Debian's own programs"
}

# check_output N
check_output() {
    local p
    for p in hello ring coll; do
        lines "$1" "^OK $p [0-9]+/$1\$" "$OUT.$p"
        cat "$OUT.$p" >>"$OUT"
    done
}

# all three programs, by: launch N PROGRAM ARGS...
three() {
    local n=$1
    {
        "$2" "$n" "$TMP/bin/hello" "$n" >"$OUT.hello"
        "$2" "$n" "$TMP/bin/ring" >"$OUT.ring"
        EXPECT_LOCAL=$n "$2" "$n" "$TMP/bin/coll" >"$OUT.coll"
    } 2>"$ERR"
    check_output "$n"
}

ours() { LD_LIBRARY_PATH=$LIBDIR "$@"; }
by_a() { run 60 "$PMIXRUN" -n "$@"; }
by_b() { ours run 60 "$PMIXRUN" -n "$@"; }
by_b_tcp() { ours run 60 "$PMIXRUN" --mca ptl tcp -n "$@"; }
by_c() { ours run 60 "$MPIRUN" -n "$@"; }
by_d() { run 60 "$MPIRUN" -n "$1" env "LD_LIBRARY_PATH=$LIBDIR" "${@:2}"; }

a() {
    need_mpi
    three "$1" by_a
    used 3 pmixrun "$OUR_LIB" $((3 * $1)) '[hrc]*' "$DEBIAN_LIB"
}

b() {
    need_mpi
    need_plain_library
    three "$1" "by_b$2"
    used 3 pmixrun "$OUR_LIB" $((3 * $1)) '[hrc]*' "$OUR_LIB"
}

c() {
    need_mpi
    need_plain_library
    three "$1" by_c
    used 3 'mpirun*' "$OUR_LIB" $((3 * $1)) '[hrc]*' "$OUR_LIB"
}

d() {
    need_mpi
    need_plain_library
    three "$1" by_d
    used 3 'mpirun*' "$DEBIAN_LIB" $((3 * $1)) '[hrc]*' "$OUR_LIB"
}

# Its processes register their folders for clean-up, which the harness looks for.
killed() { # killed LIBRARY RANK|SERVER
    need_mpi
    [ "$1" = debian ] || need_plain_library
    local libdir=$LIBDIR victim
    [ "$1" = ours ] || libdir=$(dirname "$DEBIAN_LIB")
    start "$PMIXRUN" -n 4 -x "LD_LIBRARY_PATH=$libdir" "$TMP/bin/stay"
    until_true 30 eval '[ "$(grep -c "^UP" "$OUT")" = 4 ]' || fail "the ranks do not start: $(tail -1 "$ERR")"
    [ -n "$(find "$TMPDIR" /dev/shm -name '*ompi*' -o -name 'vader_segment*')" ] ||
        fail "there is nothing that could be left"
    victim=$PID
    [ "$2" = SERVER ] || victim=$(sed -n 's/^UP 2 //p' "$OUT")
    kill -9 "$victim"
    await "$PID" 20
    same 137 "$RC" "exit status"
    until_true 1 eval '[ -z "$(leftovers)" ]' || fail "$(leftovers)"
}

# What both sides say they speak: with the usock component shut out, only tcp is left, and the
# other way round our own library prefers usock.
transports() {
    local n
    ours run 60 "$PMIXRUN" -n 2 sh -c 'echo "URI $TENON_SERVER_URI"' >"$OUT" 2>"$ERR"
    lines 2 '^URI .*;tcp4://127\.0\.0\.1:[0-9]+;usock:///' "$OUT"
    ours run 60 "$PMIXRUN" --mca ptl tcp -n 2 sh -c 'echo "URI $TENON_SERVER_URI"' >"$OUT" 2>"$ERR"
    n=$(grep -c '^URI $' "$OUT" || true)
    same 2 "$n" "ranks without the usock address under --mca ptl tcp"
}

if has "$MPICC"; then build_programs; fi
for n in $SIZES; do
    t "a_pmixrun_with_debian_library_$n" a "$n"
    t "b_pmixrun_with_our_library_$n" b "$n" ''
    t "b_pmixrun_with_our_library_over_tcp_$n" b "$n" _tcp
    t "c_mpirun_with_our_library_everywhere_$n" c "$n"
    t "d_mpirun_of_debian_with_our_library_in_ranks_$n" d "$n"
done
for lib in debian ours; do
    t "killed_rank_of_${lib}_library_leaves_nothing" killed $lib RANK
    t "killed_server_of_${lib}_library_leaves_nothing" killed $lib SERVER
done
t our_ranks_are_offered_usock_unless_excluded transports
suite_end
