#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs of other families under pmixrun: MPI programs on Debian's MPICH (PMI-1), and a program on Slurm's libpmi2.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin pmi "$@"

MPI=$TMP/bin/mpich PMI2=$TMP/bin/pmi2 MIXED=$TMP/bin/mixed
need_mpich() { [ -x "$MPI" ] || skip "Debian's libmpich-dev is not installed"; }
need_pmi2() { [ -x "$PMI2" ] || skip "Debian's libpmi2-0-dev is not installed"; }

sizes() { # sizes N PROGRAM...
    local n=$1 p
    need_mpich
    for p in "${@:2}"; do
        well "$PMIXRUN" -n "$n" "$MPI" "$p" "$n"
        lines "$n" "^OK $p [0-9]+/$n\$" "$OUT"
        lines 0 . "$ERR"
    done
}

several_programs() {
    need_mpich
    well "$PMIXRUN" -n 2 "$MPI" ring 3 : -n 1 "$MPI" ring 3
    lines 3 '^OK ring [0-2]/3$' "$OUT"
    well "$PMIXRUN" -n 2 sh -c "true && $MPI hello 2 && true"
    lines 2 '^OK hello [01]/2$' "$OUT"
}

by_pmi_2() { # MPICH from 4.2; earlier releases ignore the variable
    need_mpich
    well "$PMIXRUN" -n 4 env MPIR_CVAR_PMI_VERSION=2 "$MPI" coll 4
    lines 4 '^OK coll [0-3]/4$' "$OUT"
}

aborted() {
    need_mpich
    rc_of 7 run 60 "$PMIXRUN" -n 4 "$MPI" abort >"$OUT" 2>"$ERR"
    lines 1 '^pmixrun: rank 1 .* called abort with status 7' "$ERR"
    lines 0 '^OK' "$OUT"
    run 60 "$PMIXRUN" -n 2 "$MPI" wrong >"$OUT" 2>"$ERR" && fail "exit status 0"
    lines 1 '^pmixrun: rank 1 .* called abort' "$ERR"
}

killed() {
    need_mpich
    start "$PMIXRUN" -n 3 "$MPI" stay
    await_lines 3 '^UP'
    kill -9 "$(sed -n 's/^UP 2 //p' "$OUT")"
    await "$PID" 20
    same 137 "$RC" "exit status"
    lines 1 '^pmixrun: rank 2 .*killed by signal 9' "$ERR"
    rm -f /dev/shm/mpich_shar_tmp* # MPICH leaves them when a rank is killed
}

# MPICH on UCX opens no port for the spawned processes, and does not ask the launcher.
no_spawn() {
    need_mpich
    run 60 "$PMIXRUN" -n 1 "$MPI" spawn 1 >"$OUT" 2>"$ERR" && fail "exit status 0"
    grep -Eq 'cannot serve command "spawn" of rank 0 of .*: not supported|Error in spawn call' "$ERR" || fail "no reason"
    lines 0 '^OK' "$OUT"
}

told() { # a program that cannot connect is named once
    need_mpich
    well "$PMIXRUN" --mca embedded_pmi false -n 3 "$MPI" hello 1
    lines 3 '^OK hello 0/1$' "$OUT"
    lines 1 "$MPI is linked with libmpich\.so\.12, but none of its 3 processes has connected: each ran alone\$" "$ERR"
    well "$PMIXRUN" --mca embedded_pmi false -n 1 "$MPI" hello 1
    lines 0 . "$ERR"
    well "$PMIXRUN" -n 3 true
    lines 0 . "$ERR"
}

pmi2() {
    local n
    need_pmi2
    for n in 1 2 8; do
        well "$PMIXRUN" -n $n "$PMI2"
        lines $n "^OK pmi2 [0-9]+/$n\$" "$OUT"
        lines 0 . "$ERR"
    done
    rc_of 5 run 60 "$PMIXRUN" -n 2 "$PMI2" exit 5 >"$OUT" 2>"$ERR"
}

# PMIx processes and PMI-2 processes of one job: a fence is their barrier, and keys and names go from one to the other.
mixed() {
    need_pmi2
    well "$PMIXRUN" -n 2 "$PMI2" mixed : -n 2 "$CLIENT_OF_PMI"
    lines 2 '^OK mixed [01]/4$' "$OUT"
    lines 2 '^OK client [23]$' "$OUT"
}

# cost: system calls about descriptors of the launcher for each process more, with and without the sockets. On a busy
# machine the launcher reads output in more pieces, so one of three counts must be low.
cost() {
    local with without
    has strace || skip "strace is not installed"
    calls() { # calls N MCA: of pmixrun, all threads, without those of the ranks
        run 60 strace -c -f -U calls,name -e trace=%network,close,dup,dup2,dup3,fcntl,epoll_ctl,ioctl -b execve -o "$TMPDIR/calls" "$PMIXRUN" --mca embedded_pmi "$2" -n "$1" true \
            >"$OUT" 2>"$ERR" || skip "strace cannot run here: $(tail -1 "$ERR")"
        awk '$2 == "total" { print $1 }' "$TMPDIR/calls"
    }
    for _ in 1 2 3; do
        with=$(($(calls 20 true) - $(calls 4 true)))
        without=$(($(calls 20 false) - $(calls 4 false)))
        rm "$TMPDIR/calls"
        print_line "# system calls for 16 processes more: $with, without the sockets $without"
        [ $((with - without)) -gt $((16 * 14)) ] || return 0
    done
    fail "$with system calls for 16 processes, without the sockets $without"
}

if has mpicc.mpich; then
    mpicc.mpich -O1 -g -Wall -I"$SOURCE/include" -I"$BUILD/include" -o "$MPI" "$HERE/mpi.c" || die "cannot compile mpi.c"
fi
if echo '#include <slurm/pmi2.h>' | "${COMPILER[@]}" -fsyntax-only -xc - 2>/dev/null; then
    "${COMPILER[@]}" -O1 -g -Wall -o "$PMI2" "$HERE/pmi2.c" -lpmi2 || die "cannot compile pmi2.c"
fi
CLIENT_OF_PMI=$PROGRAMS/pmi_client
t MPICH_with_2_ranks/ours/pmi sizes 2 hello ring coll
wide t MPICH_with_8_ranks/ours/pmi sizes 8 hello coll
wide t MPICH_with_64_ranks/ours/pmi sizes 64 hello pi
t several_programs_of_MPICH/ours/pmi several_programs
t MPICH_by_PMI_2/ours/pmi by_pmi_2
t MPI_Abort_of_MPICH_ends_the_job_with_its_status/ours/pmi aborted
t killed_rank_of_MPICH_ends_the_job/ours/pmi killed
t MPI_Comm_spawn_of_MPICH_is_refused/ours/pmi no_spawn
t program_that_never_connects_is_named told
t program_of_PMI_2/ours/pmi pmi2
t programs_of_PMIx_and_PMI_2_in_one_job/ours/pmi mixed
t socket_of_a_process_costs_few_system_calls cost
suite_end
