#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Registered clean-up with whole programs: the example, foreign clients, hosts that report the end of processes and
# hosts that do not; removal that delays no process; a full disk.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin litter "$@"

EXAMPLE=$BUILD/contrib/examples/cleanup
export LITTER=tenon.litter.$$

# ---- the example -------------------------------------------------------------------------------

# named WHEN WHAT: prints the paths that the example has printed with WHEN and WHAT
named() { sed -n "s/^rank [0-9]*: when $1 has ended: $2 //p" "$OUT" | sort; }

# Expects exactly the files to keep, with their folders, and one file of a stranger.
example() { # example RANKS
    local place=$TMPDIR/place tree
    mkdir "$place"
    touch "$place/other"
    well "$PMIXRUN" -n "$1" "$EXAMPLE" "$place"
    lines $((5 * $1)) '' "$OUT"
    same "$1" "$(named it 'remove tree' | uniq | wc -l)" "trees of the ranks"
    same "$1" "$(named it 'remove file' | uniq | wc -l)" "files of the ranks"
    same $((2 * $1)) "$(named it leave | uniq | wc -l)" "files to leave"
    same 1 "$(named 'the job' 'remove tree' | uniq | wc -l)" "trees of the job"
    {
        echo "$place/other"
        for tree in $(named it 'remove tree'); do
            printf '%s\n' "$tree" "$tree/output.txt" "$tree/sub" "$tree/sub/contact.info"
        done
    } | sort >"$TMP/wanted"
    find "$place" -mindepth 1 | sort | cmp -s - "$TMP/wanted" ||
        fail "not what was to be left: $(find "$place" -mindepth 1 | sort | diff - "$TMP/wanted" | tr '\n' ' ')"
    rm -rf "$place"
}

# ---- foreign clients ----------------------------------------------------------------------------

# The harness reports each leftover as a failure.
under_pmixrun() { # under_pmixrun HEADERS
    [ "$1" = ours ] || use_debian
    well "$PMIXRUN" -n 3 -x "LD_LIBRARY_PATH=$(folder "$1")" "$(program "$1" client)" litter
    lines 3 '^OK litter [0-2]$' "$OUT"
    used 1 pmixrun "$OUR_LIB" 3 client "$(library "$1")"
}

# Expects clean-up after a rank that kills itself.
killed_under_pmixrun() { # killed_under_pmixrun HEADERS
    [ "$1" = ours ] || use_debian
    rc_of 137 run 60 "$PMIXRUN" -n 2 -x "LD_LIBRARY_PATH=$(folder "$1")" -x LITTER_DIES=made \
        "$(program "$1" client)" litter >"$OUT" 2>"$ERR"
    lines 0 '^OK' "$OUT"
}

# SILENT: the host reports no ends until all files are gone. The library itself detects the ends.
under_host() { # under_host HEADERS REPORTS|SILENT
    [ "$1" = ours ] || use_debian
    [ "$2" = REPORTS ] || export MINIHOST_UNTIL_GONE=$TMPDIR/tree.0:$TMPDIR/tree.1:$TMPDIR/job:/dev/shm/$LITTER.0
    HOST_CLIENT_LIBRARY=$(folder "$1") PMIX_MCA_ptl=tcp LITTER_ALONE=1 \
        well "$PROGRAMS/minihost" 2 "$(program "$1" client)" litter
    lines 2 '^OK litter [01]$' "$OUT"
    used 1 minihost "$OUR_LIB" 2 client "$(library "$1")"
}

# ---- no process waits -----------------------------------------------------------------------------

# True with the capability that the kernel requires to read /proc/PID/exe of other processes.
may_trace() { (($(sed -n 's/^CapEff:\t/0x/p' /proc/self/status) >> 19 & 1)); }

# Prints the processes that the server made of itself by a bare clone: they run its program.
made_by_server() {
    local pid
    for pid in $(leftover_pids); do
        [ "$pid" = "$PID" ] || ! [ "/proc/$pid/exe" -ef "$PMIXRUN" ] || echo "$pid"
    done
}

# Waits until ranks 1 and 2 have both made progress three times.
go_on() {
    local rank n
    for rank in 1 2; do
        n=$(grep -c "^rank $rank has done" "$OUT" || true)
        until_true 30 eval '[ "$(grep -c "^rank $rank has done" "$OUT")" -ge $((n + 3)) ]' || fail "rank $rank waits"
    done
}

# While the removing process is stopped, no file is removed, and no other process waits.
stopped() {
    is_root || skip "needs root, to identify the removing process"
    may_trace || skip "needs CAP_SYS_PTRACE, to tell the remover from others"
    local pids pid rank
    mkdir -p "$TMPDIR"/busy/{0..9}
    touch "$TMPDIR"/busy/{0..9}/{0..9}
    export BUSY_TREE=$TMPDIR/busy BUSY_GO=$TMP/go BUSY_STOP=$TMP/stop
    start "$PMIXRUN" -n 3 "$CLIENT" busy
    await_lines 1 '^registered'
    rank=$(sed -n 's/^registered by //p' "$OUT")
    pids=$(made_by_server)
    [ -n "$pids" ] || fail "there is nobody who removes"
    for pid in $pids; do kill -STOP "$pid"; done
    touch "$BUSY_GO"
    until_true 20 eval '! kill -0 "$rank" 2>/dev/null' || fail "rank 0 does not end"
    go_on
    until_true 20 eval '! [ -e "$TMPDIR/busy" ]' || fail "the tree is not removed while the janitor is stopped"
    for pid in $pids; do kill -CONT "$pid"; done
    touch "$BUSY_STOP"
    await "$PID" 30
    same 0 "$RC" "exit status: $(tail -1 "$ERR")"
    lines 3 '^OK busy [0-2]$' "$OUT"
}

# Expects that the server's own threads remove no registered file.
traced() {
    has strace || skip "no strace"
    strace -o /dev/null -e trace=none true 2>/dev/null || skip "strace is not allowed here"
    [ -z "$SANITIZE" ] || skip "a sanitized program cannot be traced: leaks are looked for by ptrace"
    run 120 strace -f -y -qq -o "$TMP/trace" -e trace=unlink,unlinkat,rmdir,clone,clone3 \
        "$PMIXRUN" -n 2 "$CLIENT" litter >"$OUT" 2>"$ERR" || fail "$(tail -1 "$ERR")"
    lines 2 '^OK litter [01]$' "$OUT"
    python3 - "$TMP/trace" >"$TMP/removals" <<'END' || fail "the trace is not understood"
import re, sys
server, begun, removals = set(), {}, {True: 0, False: 0}
for line in open(sys.argv[1], errors="replace"):
    pid, rest = line.split(None, 1)
    server = server or {pid}
    if "unfinished ..." in rest:
        begun[pid] = rest
        continue
    if rest.startswith("<..."):
        rest = begun.pop(pid, "") + rest
    born = re.match(r"clone3?\(.*CLONE_THREAD.*= (\d+)", rest, re.S)
    if born and pid in server:
        server.add(born[1])
    # An ordinary user's strace does not see names in processes that may not be dumped: none of them is the server.
    name = r"own\.|tree\.|.job[^s]|socket\.|litter" + ("" if pid in server else "|0x")
    if re.match(rf"(unlink|unlinkat|rmdir)\(.*({name}).*= 0$", rest.strip(), re.S):
        removals[pid in server] += 1
print(removals[True], removals[False])
END
    local own other
    read -r own other <"$TMP/removals"
    same 0 "$own" "removals by the server's threads"
    # two ranks: 10 files, 42 entries of trees and 20 in the job's tree; and its top
    [ "$other" -ge 145 ] || fail "$other removals by others"
}

# ---- the disk is full ----------------------------------------------------------------------------

full() {
    is_root || skip "needs root, to mount a small disk"
    unshare -m --propagation private -- mount -t tmpfs -o size=192k tmpfs "$TMPDIR" 2>/dev/null ||
        skip "mounting is not allowed here"
    local took
    FILL_FILE=/dev/shm/$LITTER run 60 unshare -m --propagation private -- sh -c '
        mount -t tmpfs -o size=192k,mode=1777 tmpfs "$TMPDIR" && "$@" && left=$(ls -A "$TMPDIR") &&
        if [ -n "$left" ]; then echo "left: $left" >&2; exit 9; fi' sh \
        "$PMIXRUN" -n 2 "$CLIENT" fill >"$OUT" 2>"$ERR" || fail "$(tail -1 "$ERR")"
    lines 2 '^OK fill [01]$' "$OUT"
    took=$(sed -n 's/^took //p' "$OUT" | sort -n | tail -1)
    [ "$took" -lt 200 ] || fail "$took of 1,800 bytes found room on a disk of 192 KiB"
}

for n in 1 4; do t "example_of_$n" example $n; done
for headers in ours debian; do
    t "litter_of_${headers}_under_pmixrun" under_pmixrun $headers
    t "killed_litter_of_${headers}_under_pmixrun" killed_under_pmixrun $headers
    t "litter_of_${headers}_under_a_host_that_reports" under_host $headers REPORTS
    t "litter_of_${headers}_under_a_host_that_does_not" under_host $headers SILENT
done
t no_process_waits_for_a_removal stopped
t server_threads_remove_nothing traced
t full_disk_is_told_and_nothing_else_fails full
suite_end
