# shellcheck shell=bash
# shellcheck disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts of this folder. Runs cases one by one, each with deadlines and a TMPDIR of
# its own. After each case it searches for leftovers: processes, files, sockets, shared memory. The
# dynamic linker's record has the libpmix of each process.
#
#   suite_begin NAME "$@"    arguments: [-k] keeps the logs; [-p K/N] runs each Nth case from the Kth on, so that N
#                            parts may run at once; globs select cases
#   t CASE FUNCTION ARGS...  runs FUNCTION in a subshell: fails where it calls fail, or a command
#                            fails; PASS, FAIL or SKIP is one line
#   wide t CASE ...          the same, for cases beside those of the short form
#   suite_end                "N passed, N failed, N skipped" and the exit status: 77 if all cases are skipped
set -euo pipefail

: "${TENON_BUILD:?run by meson test, or set TENON_BUILD to the build folder}"
SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "$TENON_BUILD" && pwd)
HERE=$SOURCE/test/integration
PROGRAMS=$BUILD/test/integration
CLIENT=$PROGRAMS/client
MODEX=$BUILD/contrib/examples/modex
SANITIZE=${TENON_SANITIZE:-}
read -ra COMPILER <<<"${CC:-cc}"
MULTIARCH=$("${COMPILER[@]}" -print-multiarch 2>/dev/null || true)
[ -n "$MULTIARCH" ] || MULTIARCH=$(uname -m)-linux-gnu
# TENON_INSTALLED=1: tests the library and pmixrun of the installed packages, with programs of the build folder.
if [ -n "${TENON_INSTALLED:-}" ]; then
    LIBDIR=/usr/lib/$MULTIARCH/tenon PMIXRUN=/usr/bin/pmixrun
else
    LIBDIR=$BUILD/core PMIXRUN=$BUILD/contrib/tools/pmixrun
fi
DEBIAN_LIB=$(readlink -f "/usr/lib/$MULTIARCH/libpmix.so.2" 2>/dev/null || true)
DEBIAN_DIR=$(dirname "${DEBIAN_LIB:-/nowhere/x}")
DEBIAN_INCLUDE=/usr/lib/$MULTIARCH/pmix2/include
OUR_LIB=$(readlink -f "$LIBDIR/libpmix.so.2" || true)
N_PASS=0 N_FAIL=0 N_SKIP=0 N_CASE=0 N_SEEN=0 PART=1 PARTS=1 KEEP=0 ONLY=() STARTED=() TMP=''

# Flags of a sanitized build for our own programs.
SANITIZE_FLAGS=()
[ -z "$SANITIZE" ] || SANITIZE_FLAGS=("-fsanitize=$SANITIZE" -fno-omit-frame-pointer)

print_line() { printf '%s\n' "$*"; }
die() { print_line "FAIL setup: $*"; print_line "$N_PASS passed, $((N_FAIL + 1)) failed, $N_SKIP skipped"; exit 1; }
fail() { printf '%s\n' "$*" >"$REASON"; exit 1; } # inside a case only
skip() { printf '%s\n' "$*" >"$REASON"; exit 77; } # inside a case only

# ---- the machine ------------------------------------------------------------------------------

# times SHORT LONG [WIDE]: prints the number of the form. The wide form (contrib/check.sh --all) has the short form's
# number by default.
times() {
    if [ "${PX_TEST_LONG:-0}" != 0 ]; then
        echo $(($2 * PX_TEST_LONG))
    elif [ -n "${PX_TEST_WIDE:-}" ]; then
        echo "${3:-$1}"
    else
        echo "$1"
    fi
}

# True in the wide form, in the long form, and where arguments select cases.
is_wide() { [ "$(times 0 1 1)" != 0 ] || [ ${#ONLY[@]} -gt 0 ]; }
wide() { ! is_wide || "$@"; }

is_root() { [ "$(id -u)" = 0 ]; }
has() { command -v "$1" >/dev/null 2>&1; }

need_cores() { # need_cores N: to bind ranks to
    local n
    n=$(sort -u /sys/devices/system/cpu/cpu*/topology/thread_siblings_list 2>/dev/null | wc -l) || n=0
    [ "$n" -ge "$1" ] && [ "$(nproc)" -ge "$1" ] || skip "needs $1 cores"
}

# Command for another user. It needs root, and a build folder that is open to other users.
OTHER=(setpriv --reuid 12345 --regid 12345 --clear-groups)
need_other() {
    is_root || skip "needs root, to be somebody else"
    has setpriv || skip "needs setpriv"
    "${OTHER[@]}" test -r "$LIBDIR/libpmix.so.2" -a -x "$PMIXRUN" || skip "another user cannot read the build folder"
}

# Continues in a mount namespace with a private /dev/shm, where allowed: shared memory of other programs is not
# a leftover of ours.
private_shm() {
    [ -z "${TENON_PRIVATE_SHM:-}" ] || return 0
    export TENON_PRIVATE_SHM=no
    if is_root && unshare -m --propagation private -- mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
        export TENON_PRIVATE_SHM=yes
        # shellcheck disable=SC2016
        exec unshare -m --propagation private -- \
            sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec "$@"' sh bash "$0" "$@"
    fi
}

cleanup() {
    local rc=$?
    trap - EXIT
    set +e
    [ -z "${MARK:-}" ] || end_leftovers
    if [ -n "$TMP" ]; then
        if [ "$KEEP" = 1 ]; then print_line "# logs in $TMP"; else rm -rf "$TMP"; fi
    fi
    exit "$rc"
}

suite_begin() {
    local v
    NAME=$1
    shift
    # lib.sh finds leftover processes in /proc, and programs of the build folder find the library by /proc.
    [ -e /proc/self/exe ] || { print_line "SKIP $NAME: needs /proc"; exit 77; }
    private_shm "$@"
    while [ $# -gt 0 ]; do
        case $1 in
            -k) KEEP=1 ;;
            -p) PART=${2%/*} PARTS=${2#*/}; shift ;;
            -*) print_line "usage: $NAME.sh [-k] [-p K/N] [CASE_GLOB...]"; exit 2 ;;
            *) ONLY+=("$1") ;;
        esac
        shift
    done
    # Removes the environment of a job around this script.
    for v in $(compgen -e | grep -E '^(PMIX_|TENON_SERVER_URI|OMPI_|SLURM|LD_)' || true); do
        unset "$v"
    done
    [ -f "$OUR_LIB" ] || die "no library at $LIBDIR"
    [ -x "$PMIXRUN" ] || die "no pmixrun at $PMIXRUN"
    TMP=$(mktemp -d "${TMPDIR:-/tmp}/tn.XXXXXX") # short: a socket's path has 107 bytes
    chmod 755 "$TMP"
    mkdir -p "$TMP/bin" "$TMP/log"
    mkfifo "$TMP/nap"
    trap cleanup EXIT
    trap 'exit 130' INT TERM
    export LC_ALL=C
    # Debian's Open MPI on one machine, also as root and in a container.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of a daemon that MPI starts
    export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_btl_tcp_if_include=lo
    export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_pml=ob1
    export OMPI_MCA_btl_vader_single_copy_mechanism=none
    export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    export OMPI_MCA_mpi_yield_when_idle=1
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # of Open MPI 5
}

suite_end() {
    print_line "# $NAME: $SECONDS s"
    print_line "$N_PASS passed, $N_FAIL failed, $N_SKIP skipped"
    if [ $N_PASS = 0 ] && [ $N_FAIL = 0 ] && [ $N_SKIP -gt 0 ]; then return 77; fi
    [ $N_FAIL = 0 ] && [ $N_PASS -gt 0 ]
}

# ---- running things -----------------------------------------------------------------------------

# Runs a command with default signals, because a background command of a script starts with SIGINT ignored.
in_case() {
    exec env --default-signal=INT,QUIT,PIPE "TENON_TEST_MARK=$MARK" "${RECORDING[@]}" "$@"
}

# run SECONDS COMMAND...: in the foreground, with a deadline
run() {
    local seconds=$1
    shift
    (in_case timeout -k 5 "$seconds" "$@")
}

# well COMMAND...: as run, into OUT and ERR; expects success
well() {
    run 90 "$@" >"$OUT" 2>"$ERR" || fail "exit status $?: $(tail -1 "$ERR")"
}

# pr ARGS...: runs pmixrun
pr() { run 60 "$PMIXRUN" "$@"; }
# prints COUNT REGEX ARGS...: expects success of pmixrun with ARGS, and so many such lines
prints() { well "$PMIXRUN" "${@:3}" && lines "$1" "$2" "$OUT"; }

# start COMMAND...: in the background; PID is the command's pid, for await. Standard streams: IN
# (default /dev/null), OUT, ERR.
start() {
    : >"$OUT" # removes the output of an earlier program at once
    (in_case "$@") <"${IN:-/dev/null}" >"$OUT" 2>"$ERR" &
    PID=$!
    STARTED+=("$PID")
}

# Sleeps without a process of its own: nothing comes from the FIFO.
nap() { read -rt "$1" <>"$TMP/nap" || true; }

# await PID SECONDS: waits, and sets RC to the exit status; after the deadline kills the process, and fails
await() {
    local end=$((SECONDS + $2))
    while kill -0 "$1" 2>/dev/null; do
        if [ $SECONDS -gt "$end" ]; then
            kill -9 "$1" 2>/dev/null || true
            fail "still running after $2 s"
        fi
        nap 0.02
    done
    RC=0
    wait "$1" || RC=$?
}

# until_true SECONDS COMMAND...
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -le "$end" ] || return 1
        nap 0.02
    done
}

# await_lines COUNT REGEX [FILE]: waits for COUNT matching lines, in OUT by default
await_lines() {
    until_true 20 has_lines "$@" || fail "not $1 lines match '$2': $(cat "${3:-$OUT}" "$ERR" | tail -2)"
}
has_lines() { [ "$(grep -cE -- "$2" "${3:-$OUT}")" = "$1" ]; }

# rc_of WANTED COMMAND...
rc_of() {
    local want=$1 rc=0
    shift
    "$@" || rc=$?
    [ "$rc" = "$want" ] || fail "exit status $rc, expected $want"
}

# lines COUNT REGEX FILE
lines() {
    local n
    n=$(grep -cE -- "$2" "$3" || true)
    [ "$n" = "$1" ] || fail "$n lines match '$2', expected $1"
}

gone() {
    local path
    for path; do [ ! -e "$path" ] || fail "$path is still there"; done
}

there() {
    local path
    for path; do [ -e "$path" ] || fail "$path is gone"; done
}

same() { # same WANTED GOT WHAT
    [ "$1" = "$2" ] || fail "$3: '$2', expected '$1'"
}

# ---- rows of docs/tools.md ---------------------------------------------------------------------

# row NAME COMMAND...: expects the row in docs/tools.md that the command prints
row() {
    local got
    got=$(run 120 "${@:2}") || fail "no row of $1: $got"
    print_line "$got"
    grep -qxF -- "$got" "$SOURCE/docs/tools.md" || fail "docs/tools.md does not have the row $got"
}

# ---- libpmix of each process --------------------------------------------------------------------

# True if the script looks at the records, which take a tenth of a short process's time.
reads_records() {
    : "${READS_RECORDS:=$(grep -qE '(^|[;|]) *used [0-9"$]|loaded_libs' "$0" && echo yes || echo no)}"
    [ "$READS_RECORDS" = yes ]
}

# Prints "PROGRAM FILE" for each process and each libpmix that it initialised, from the linker's
# records. A process that executed another program counts as its last program.
loaded_libs() {
    local records=("$RECORD"/ld.*)
    [ -e "${records[0]}" ] || return 0
    awk 'function flush(lib) { for (lib in libs) print program, lib; split("", libs); program = "" }
        FNR == 1 { flush() }
        /initialize program: / { program = $NF; sub(".*/", "", program) }
        /calling init: [^ ]*libpmix\.so/ { libs[$4] }
        END { flush() }' "${records[@]}"
}

is_file() { [ "$1" = "$2" ] || [ "$1" -ef "$2" ]; } # is_file ONE OTHER: same file, by any name

# used COUNT PROGRAM FILE [COUNT PROGRAM FILE]...: at least COUNT processes of PROGRAM (a glob)
# used the libpmix FILE, none of them used another, and no other program used any
used() {
    local table program lib want got i seen=()
    local spec=("$@")
    table=$(loaded_libs)
    while read -r program lib; do
        [ -n "$program" ] || continue
        got=''
        for ((i = 0; i < ${#spec[@]}; i += 3)); do
            # shellcheck disable=SC2053
            [[ $program == ${spec[i + 1]} ]] || continue
            want=${spec[i + 2]} got=$i
            is_file "$lib" "$want" || fail "$program used $lib, not $want"
            seen[i]=$((${seen[i]:-0} + 1))
            break
        done
        [ -n "$got" ] || fail "$program used $lib, and was not expected to use any"
    done <<<"$table"
    for ((i = 0; i < ${#spec[@]}; i += 3)); do
        [ "${seen[i]:-0}" -ge "${spec[i]}" ] ||
            fail "${seen[i]:-0} processes of ${spec[i + 1]} used libpmix, expected ${spec[i]}"
    done
}

# ---- leftovers ------------------------------------------------------------------------------------

# Prints the pids of processes of this case.
leftover_pids() {
    local pid
    for pid in $(grep -lzxF "TENON_TEST_MARK=$MARK" /proc/[0-9]*/environ 2>/dev/null); do
        pid=${pid#/proc/}
        echo "${pid%/*}"
    done
}

end_leftovers() {
    local pid
    for pid in $(leftover_pids); do kill -9 "$pid" 2>/dev/null || true; done
}

# Sets SHM to the names of shared memory.
list_shm() {
    if [ "${TENON_PRIVATE_SHM:-}" = yes ]; then
        shopt -s dotglob nullglob
        SHM=(/dev/shm/*)
        shopt -u dotglob nullglob
    else
        # not the files of another suite that runs at the same time
        mapfile -t SHM < <(find /dev/shm -mindepth 1 -user "$(id -un)" \( -name '*pmix*' -o -name '*tenon*' \) \
            ! \( -name 'tenon.litter.*' ! -name "${LITTER:-none}*" \) 2>/dev/null)
    fi
}

# Waits until the commands of start run, at most 10 s, because a shell before its exec does not have the mark.
await_marks() {
    local pid file end=$((SECONDS + 10))
    for pid in "${STARTED[@]}"; do
        file=/proc/$pid/environ
        while [ $SECONDS -lt $end ] && grep -qz . "$file" 2>/dev/null &&
            ! grep -qzxF "TENON_TEST_MARK=$MARK" "$file" 2>/dev/null; do
            nap 0.01
        done
    done
}

# Describes leftovers; prints nothing without any. Gives processes a moment to end. Before: SHM_BEFORE.
leftovers() {
    local pid pids i names what=''
    for ((i = 0; i < 100; i++)); do
        pids=$(leftover_pids)
        [ -n "$pids" ] || break
        nap 0.1
    done
    for pid in $pids; do
        what+=" process $pid ($(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c1-80))"
    done
    shopt -s dotglob nullglob
    names=("$TMPDIR"/*)
    shopt -u dotglob nullglob
    [ ${#names[@]} = 0 ] || for i in $(find "$TMPDIR" -mindepth 1 2>/dev/null | head -5); do what+=" $i"; done
    list_shm
    for i in "${SHM[@]}"; do
        [[ " ${SHM_BEFORE[*]} " == *" $i "* ]] || what+=" $i"
    done
    if grep -qF " $TMPDIR/" /proc/net/unix; then
        for i in $(sed -n "s#.* \($TMPDIR/.*\)#\1#p" /proc/net/unix | sort -u | head -5); do what+=" socket $i"; done
    fi
    [ -z "$what" ] || printf 'left behind:%s\n' "$what"
}

nothing_left() { # inside a case, between two runs
    local what
    what=$(leftovers)
    [ -z "$what" ] || fail "$what"
}

# ---- cases ----------------------------------------------------------------------------------------

selected() {
    local glob
    [ ${#ONLY[@]} -gt 0 ] || return 0
    for glob in "${ONLY[@]}"; do
        # shellcheck disable=SC2053
        [[ $1 != $glob ]] || return 0
    done
    return 1
}

show_logs() {
    local f
    for f in "$LOG" "$OUT" "$ERR"; do
        [ -s "$f" ] || continue
        print_line "    --- ${f##*/}"
        tail -n 25 "$f" | cut -c1-300 | sed 's/^/    | /'
    done
}

t() {
    local name=$1 rc=0 why started=$SECONDS
    shift
    selected "$name" || return 0
    N_SEEN=$((N_SEEN + 1))
    [ $((N_SEEN % PARTS)) = $((PART % PARTS)) ] || return 0
    N_CASE=$((N_CASE + 1))
    MARK=$TMP/$N_CASE
    LOG=$TMP/log/$N_CASE.log REASON=$TMP/log/$N_CASE.reason
    OUT=$TMP/log/$N_CASE.out ERR=$TMP/log/$N_CASE.err
    RECORD=$TMP/log/$N_CASE.ld RECORDING=()
    ! reads_records || RECORDING=(LD_DEBUG=libs "LD_DEBUG_OUTPUT=$RECORD/ld")
    export TMPDIR=$TMP/$N_CASE
    mkdir -m 1777 "$TMPDIR" "$RECORD"
    : >"$REASON"
    list_shm
    SHM_BEFORE=("${SHM[@]}")
    set +e
    (set -euo pipefail; trap await_marks EXIT; ulimit -c 0; cd "$TMP"; "$@") >"$LOG" 2>&1 </dev/null
    rc=$?
    set -e
    why=
    read -r why <"$REASON" || true
    if [ $rc = 0 ]; then
        why=$(leftovers)
        [ -z "$why" ] || rc=1
    fi
    [ $rc = 0 ] || end_leftovers
    [ -n "$why" ] || why="exit status $rc: $(tail -1 "$LOG" | cut -c1-200)"
    # A case that fails without our library is skipped.
    [ $rc = 0 ] || [ $rc = 77 ] || [[ $name != */debian/debian ]] || { rc=77 why="fails without our library: $why"; }
    case $rc in
        0) print_line "PASS $name ($((SECONDS - started)) s)"; N_PASS=$((N_PASS + 1)) ;;
        77) print_line "SKIP $name: $why"; N_SKIP=$((N_SKIP + 1)) ;;
        *)
            print_line "FAIL $name: $why"
            N_FAIL=$((N_FAIL + 1))
            show_logs
            ;;
    esac
    [ $KEEP = 1 ] || rm -rf "$TMPDIR" "$RECORD"
}

# across "SERVER/RANKS..." CASE FUNCTION ARGS...: the case CASE/SERVER/RANKS for each pair of libraries ("ours" or
# "debian"), whose names FUNCTION gets first. contrib/check/interop.py makes a table of these names. Debian's library on
# both sides shows what the case is worth, for that table alone.
across() {
    local pair pairs=$1 name=$2 function=$3
    shift 3
    for pair in $pairs; do
        [ "$pair" != debian/debian ] || [ -n "${PX_TEST_BASELINE:-}" ] || continue
        t "$name/$pair" "$function" "${pair%/*}" "${pair#*/}" "$@"
    done
}

# ---- programs with Debian's headers ---------------------------------------------------------------

need_debian_lib() { [ -f "$DEBIAN_LIB" ] || skip "Debian's libpmix2 is not installed"; }
need_debian_headers() {
    need_debian_lib
    [ -f "$DEBIAN_INCLUDE/pmix.h" ] || skip "Debian's libpmix-dev is not installed"
    [ -x "$PROGRAMS/debian/client" ] || skip "this build is older than Debian's libpmix-dev: meson setup --reconfigure"
}

# Copies the MPI program to $TMP/bin/mpi, and with a run path to a library to $TMP/bin/ours/mpi and $TMP/bin/debian/mpi.
copy_mpi() {
    local lib
    [ -f "$PROGRAMS/debian/mpi" ] && has mpicc.openmpi || return 0
    cp "$PROGRAMS/debian/mpi" "$TMP/bin/mpi"
    for lib in ours debian; do
        [ -f "$PROGRAMS/debian/mpi_$lib" ] || continue
        mkdir "$TMP/bin/$lib"
        cp "$PROGRAMS/debian/mpi_$lib" "$TMP/bin/$lib/mpi"
    done
    [ -z "${TENON_INSTALLED:-}" ] ||
        mpicc.openmpi -O1 -I"$SOURCE/include" -I"$BUILD/include" -o "$TMP/bin/ours/mpi" "$HERE/mpi.c" \
            -Wl,--disable-new-dtags,-rpath,"$LIBDIR",--no-as-needed "$LIBDIR/libpmix.so.2"
}

# ---- a daemon of MUNGE ------------------------------------------------------------------------------

# start_munged FOLDER: with a key of its own in FOLDER, which must be new. Sets SOCKET, and DAEMON to the pid.
start_munged() {
    mkdir -m 755 "$1"
    SOCKET=$1/socket
    (umask 077 && head -c 1024 /dev/urandom >"$1/key")
    (in_case munged --foreground --force --socket="$SOCKET" --key-file="$1/key" --seed-file="$1/seed" \
        --pid-file="$1/pid" --log-file="$1/log" --num-threads=1) </dev/null >"$1/out" 2>&1 &
    DAEMON=$!
    until_true 20 munge --no-input --socket="$SOCKET" --output=/dev/null 2>"$1/err"
}

# Prepares a case with Debian's library. That library leaks, its notify crashes when it is answered later, and its
# servers leave their stores.
use_debian() {
    need_debian_headers
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 HOST_NOTIFY_AT_ONCE=1
    trap 'rm -rf "$TMPDIR"/pmix_dstor_* "$TMPDIR"/pmix-gds-shmem2.* "$TMPDIR"/ompi.*' EXIT
}

# with_tool LIBRARY FUNCTION ARGUMENT...: runs a function whose tools have the library "ours" or "debian". Meson sets
# MALLOC_PERTURB_ to a random byte. With some bytes a tool on OpenPMIx 5.0.7 aborts in PMIx_tool_finalize, at each server.
with_tool() {
    [ "$1" = ours ] || unset MALLOC_PERTURB_
    "${@:2}"
}

# Removes what a process of Open MPI 5 without a launcher leaves: a folder and, with OpenPMIx, a segment.
drop_rests_of_singleton() {
    rm -rf "$TMPDIR"/ompi.*
    [ "${TENON_PRIVATE_SHM:-}" != yes ] || rm -f /dev/shm/sm_segment.*
}

# Print, for "ours" or "debian", the program compiled with those headers, the library, and its folder.
program() { case $1 in debian) echo "$PROGRAMS/debian/$2" ;; ours) echo "$PROGRAMS/$2" ;; esac; }
library() { case $1 in debian) echo "$DEBIAN_LIB" ;; ours) echo "$OUR_LIB" ;; esac; }
folder() { case $1 in debian) echo "$DEBIAN_DIR" ;; ours) echo "$LIBDIR" ;; esac; }

# Installs a tree without references to build folder and source. Sets TREE, and TREE_LIB to the library's folder.
install_tree() {
    has meson || skip "no meson"
    has pkg-config || skip "no pkg-config"
    meson install -C "$BUILD" --no-rebuild --quiet --destdir "$TMPDIR/dest" >"$LOG.install" 2>&1 ||
        fail "meson install: $(tail -1 "$LOG.install")"
    TREE=$(dirname "$(dirname "$(find "$TMPDIR/dest" -path '*/bin/pmixrun')")")
    [ -x "$TREE/bin/pmixrun" ] || fail "no bin/pmixrun is installed"
    find_library
}

find_library() {
    TREE_LIB=$(dirname "$(find "$TREE" -name libpmix.so.2)")
    [ -f "$TREE_LIB/libpmix.so.2" ] || fail "no libpmix.so.2 is installed"
    export PKG_CONFIG_PATH=$TREE_LIB/pkgconfig
}

move_tree() {
    mkdir "$TMPDIR/moved"
    mv "$TREE" "$TMPDIR/moved/tenon"
    rm -r "$TMPDIR/dest"
    TREE=$TMPDIR/moved/tenon
    find_library
}
