#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests of pmixrun with the streams of programs: stdin, stdout and stderr, marks, files, terminals,
# and the output of spawned jobs. output.py checks each byte.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin streams "$@"

# ---- stdin ------------------------------------------------------------------------------------

logged() { # whole lines, twice each, and the last line before the line of the following abort
    STRICT=1 rc_of 3 pr "$CLIENT" log abort >"$OUT" 2>"$ERR"
    same "text 0.pmix.log.stderr text 2.pmix.log.stderr text 3.pmix.log.stderr text 5.pmix.log.stderr text 8.pmix.log.stderr" \
        "$(grep ^text "$ERR" | uniq -d | tr '\n' ' ' | sed 's/ $//')" "lines logged to stderr"
    same "text 1.pmix.log.stdout text 2.pmix.log.stdout text 4.pmix.log.stdout" \
        "$(uniq -d "$OUT" | tr '\n' ' ' | sed 's/ $//')" "lines logged to stdout"
    same 16 "$(cat "$OUT" "$ERR" | grep -c ^text)" "lines logged"
    same "the last text" "$(tail -2 "$ERR" | head -1)" "line before that of the abort"
    lines 1 '^pmixrun: rank 0 .*: the end$' "$ERR"
    rc_of 99 pr --mca embedded_output_required false "$CLIENT" log >"$OUT" 2>/dev/full # PMIx_Log must not succeed
    well "$PMIXRUN" "$CLIENT" log
}

stdin_null() { prints 2 'read 0 bytes, sum 0$' -n 2 "$CLIENT" stdin </dev/null; }
stdin_closed() { pr -n 2 true <&-; }
# fed READERS OPTION...: of three ranks, the READERS get the input unchanged, and the others only its end
fed() {
    local r sum readers=$1
    pr -n 3 "${@:2}" "$CLIENT" stdin <"$TMP/input" >"$OUT"
    for r in 0 1 2; do
        sum="rank $r read 0 bytes, sum 0"
        [[ $readers != *$r* ]] || sum=$(PMIX_RANK=$r "$CLIENT" stdin <"$TMP/input")
        same 1 "$(grep -Fxc "$sum" "$OUT")" "lines of rank $r with '${*:2}'"
    done
}

stdin_file() { # output.py has pipes
    seq -f %029.0f 10000 >"$TMP/input" # 300,000 bytes
    fed 0
    fed 012 --stdin all
    fed 2 --stdin 2
    fed '' --stdin 1 --stdin none
    rc_of 2 pr --stdin some true 2>"$ERR"
    lines 1 '^pmixrun: --stdin "some": all, none, or a rank' "$ERR"
    rc_of 1 pr --stdin 1 true 2>"$ERR"
    lines 1 'rank 1, which is to get standard input, is not there$' "$ERR"
}

# ---- stdout and stderr ------------------------------------------------------------------------

long_line() {
    pr -n 2 sh -c 'head -c 1000000 /dev/zero | tr "\0" "$PMIX_RANK"; echo' >"$OUT"
    same 2000002 "$(wc -c <"$OUT")" "bytes of output"
}

marked() { # as Debian's mpirun does it
    local talk='echo out; echo; echo error >&2; echo "rank $PMIX_RANK"'
    prints 9 '^\[1,[0-2]\]<stdout>:(out||rank [0-2])$' -n 3 --tag-output sh -c "$talk"
    lines 3 '^\[1,[0-2]\]<stderr>:error$' "$ERR"
    same 12 "$(cat "$OUT" "$ERR" | wc -l)" "lines of output"
    if has mpirun && mpirun --version 2>/dev/null | grep -q 'Open MPI) 4'; then
        run 60 mpirun -n 3 --oversubscribe --tag-output sh -c "$talk" 2>/dev/null | sort | cmp - <(sort "$OUT") ||
            fail "its lines are other ones"
    fi
}

words() {
    local talk='echo "<a>"; echo b >&2'
    prints 1 '^\[1,0\]<stdout>:<a>$' -n 1 --output tag,rank sh -c "$talk"
    prints 2 '^\[0\]<std(out|err)>:(<a>|b)$' -n 1 --output merge --output rank sh -c "$talk"
    pr -n 1 --output json,timestamp sh -c "$talk" 2>"$ERR" | python3 -c '
import json, sys
line = json.loads(sys.stdin.read())
assert line["data"] == "<a>\n" and line["rank"] == 0 and "T" in line["time"], line'
    pr -n 1 --output xml,merge sh -c "$talk" | python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.fromstring("<all>" + sys.stdin.read() + "</all>")
assert "<a>" in "".join(root.itertext()), root'
    pr -n 2 --output "only,file=$TMPDIR/%r-%%" sh -c "$talk" >"$OUT" 2>&1
    lines 0 . "$OUT"
    same 2 "$(cat "$TMPDIR"/[01]-%.stdout | grep -c '<a>')" "lines in files"
    pr -n 1 --output "dir=$TMPDIR/d" sh -c "$talk" >"$OUT" 2>&1
    same 2 "$(listing "$TMPDIR/d" | wc -l)" "lines in files"
    rm -r "$TMPDIR"/*
    for talk in '' some tag=1 dir dir= raw,tag json,xml dir=a,file=b only; do
        rc_of 2 pr --output "$talk" true 2>"$ERR"
        lines 1 '^pmixrun: --output' "$ERR"
        lines 1 . "$ERR"
    done
    rc_of 1 pr --output raw --tag-output true 2>"$ERR"
    lines 1 'PMIX_IOF_OUTPUT_RAW' "$ERR"
}

terminal() {
    need_terminal
    local talk='test -t 1 && test ! -t 2 && exec 3<>/dev/tty && printf "a\nb\n" && stty size <&3; test ! -t 0 || cat'
    COLUMNS= pr -n 2 --pty sh -c "$talk" </dev/null >"$OUT" 2>"$ERR"
    lines 2 '^a$' "$OUT"
    lines 2 '^0 0$' "$OUT"
    printf 'line\nrest' | pr --pty sh -c "$talk" >"$OUT" 2>"$ERR"
    same "a b 0 0 line rest" "$(tr '\n' ' ' <"$OUT")" "output"
    seq 20000 | pr -n 2 --pty --stdin all --output merge sh -c 'test -t 2 || exit 1; sed "s/^/$PMIX_RANK /"' >"$OUT"
    for r in 0 1; do seq 20000 | sed "s/^/$r /" | cmp - <(grep "^$r" "$OUT") || fail "lines of rank $r are lost"; done
    rc_of 129 pr --pty sh -c 'kill -HUP $$' 2>"$ERR"
}
need_terminal() { python3 -c 'import os; os.openpty()' 2>/dev/null || skip "needs pseudo terminals"; }

progress() { # shown on a terminal, and removed before output and at the end
    need_terminal
    # Prints the final lines of the terminal.
    cat >"$TMPDIR/terminal.py" <<'END'
import os, pty, re, sys
text = []
def take(fd):
    text.append(os.read(fd, 65536))
    return text[-1]
status = pty.spawn(sys.argv[1:], take)
raw = b"".join(text).decode()
print()
print("MOST", "of 1 ranks 1 started" in raw, "1 initialised" in raw)
print("TOP", max([0] + [int(n) for n in re.findall(r"0 +\d+ running .* (\d+)\r", raw)]))
lines, row, col = [""], 0, 0
for part in re.findall(r"\033\[[AK]|\r|\n|[^\033\r\n]+", raw):
    if part in "\r\n":
        row, col = row + (part == "\n"), 0
        lines += [""] * (row == len(lines))
    elif part[0] == "\033":
        row -= part == "\033[A"
        lines[row] = lines[row][:col]
    else:
        lines[row] = lines[row][:col] + part + lines[row][col + len(part):]
        col += len(part)
for line in lines:
    print("LINE", line)
sys.exit(os.waitstatus_to_exitcode(status))
END
    TERM=vt100 run 60 python3 "$TMPDIR/terminal.py" "$PMIXRUN" --progress --timeout 2 sh -c \
        'echo "out $PMIX_RANK"; printf "part "; sleep 0.5; echo whole; exec "$0" stay' "$CLIENT" </dev/null >"$OUT" || true
    lines 1 '^LINE out 0$' "$OUT"
    lines 1 '^LINE part whole$' "$OUT"
    lines 1 '^LINE pmixrun: job ended after 2 seconds' "$OUT"
    lines 0 '^LINE pmixrun: of ' "$OUT"
    lines 1 '^MOST True True' "$OUT"
    TERM=vt100 run 60 python3 "$TMPDIR/terminal.py" "$PMIXRUN" --top -n 2 sh -c \
        'echo "out $PMIX_RANK"; sleep 2.5; echo last' </dev/null >"$OUT" || fail "exit status $?"
    rm "$TMPDIR/terminal.py"
    lines 1 '^TOP 6$' "$OUT"
    lines 2 '^LINE out [01]$' "$OUT"
    lines 2 '^LINE last$' "$OUT"
    lines 0 '^LINE .*(rank|running|ended)' "$OUT"
    prints 2 '^out$' --progress -n 2 echo out
    same 0 "$(wc -c <"$ERR")" "bytes on stderr"
}

top() { # without a terminal: lines on stderr, with a look at the end
    pr --top -n 2 sh -c 'printf 12345; printf 67 >&2; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; sleep 2.5' \
        >"$OUT" 2>"$ERR"
    [ "$(grep -cE '^ +[01] +[0-9]+ running +[0-9.]+ +[0-9]+\.[0-9] +7$' "$ERR")" -ge 2 ] || fail "no look shows running ranks"
    lines 2 '^ +[01] +[0-9]+ ended +- +- +7$' "$ERR"
    rc_of 3 pr --top sh -c 'exit 3' 2>"$ERR"
    grep -qE '^ +0 +[0-9]+ failed ' "$ERR" || fail "no look shows the failed rank"
    rc_of 2 pr --top --progress true 2>"$ERR"
    lines 1 '^pmixrun: --top contradicts --progress' "$ERR"
}

merged() { # in the order in which they were written
    pr -n 2 --merge-stderr-to-stdout sh -c 'for i in 1 2 3; do echo "$PMIX_RANK $i"; echo "$PMIX_RANK $i e" >&2; done' >"$OUT" 2>"$ERR"
    lines 0 . "$ERR"
    for r in 0 1; do
        same "$(printf "$r %s\n" 1 '1 e' 2 '2 e' 3 '3 e')" "$(grep "^$r" "$OUT")" "lines of rank $r"
    done
}

# ranks' output below DIR: "rank.0/stdout: text"
listing() { (cd "$1"/* && grep -r . | sort); }

output_dir() { # as Debian's mpirun does, except the name of the job
    local talk='echo out $PMIX_RANK; echo error >&2'
    pr -n 11 --tag-output --output-dir "$TMPDIR/a/b" sh -c "$talk" >"$OUT" 2>"$ERR"
    same 22 "$(listing "$TMPDIR/a/b" | wc -l)" "lines in files"
    lines 11 '^\[1,[0-9]+\]<stdout>:out [0-9]+$' "$OUT"
    lines 11 '^\[1,[0-9]+\]<stderr>:error$' "$ERR"
    if has mpirun && mpirun --version 2>/dev/null | grep -q 'Open MPI) 4'; then
        run 60 mpirun -n 11 --oversubscribe --tag-output --output-filename "$TMPDIR/c" sh -c "$talk" >/dev/null 2>&1
        listing "$TMPDIR/c" | cmp - <(listing "$TMPDIR/a/b") || fail "its files are other ones"
    fi
    (cd "$TMPDIR" && pr -n 2 --output-filename d:NoCopy sh -c "$talk" >"$OUT" 2>&1)
    same 4 "$(listing "$TMPDIR/d" | wc -l)" "lines in files"
    pr -n 2 --output-file "$TMPDIR/f:nocopy" head -c 1000000 "$PMIXRUN" >>"$OUT" 2>&1
    lines 0 . "$OUT"
    for r in 0 1; do head -c 1000000 "$PMIXRUN" | cmp - "$TMPDIR/f.$r" || fail "the bytes of rank $r are other ones"; done
    rm -r "$TMPDIR"/[acdf]*
}

output_refused() { # before anything starts
    ln -s /dev/null "$TMPDIR/x.1"
    rc_of 1 pr -n 2 --output-file "$TMPDIR/x" touch "$TMPDIR/ran" 2>"$ERR"
    lines 1 'cannot write to .*/x\.1: it is a symbolic link$' "$ERR"
    rc_of 1 pr -n 2 --output-dir /proc/nowhere touch "$TMPDIR/ran" 2>"$ERR"
    lines 1 'cannot write to /proc/nowhere/.*/rank.0/stdout: No such file or directory$' "$ERR"
    gone "$TMPDIR/ran"
    rm "$TMPDIR"/x.*
}

output_dir_full() {
    local rc=0
    [ "${TENON_PRIVATE_SHM:-}" = yes ] || skip "needs root and mounts of its own"
    mkdir "$TMPDIR/small"
    mount -t tmpfs -o size=64k tmpfs "$TMPDIR/small" || skip "needs a small file system"
    pr -n 2 --output-dir "$TMPDIR/small:nocopy" yes >"$OUT" 2>"$ERR" || rc=$?
    umount "$TMPDIR/small"
    rmdir "$TMPDIR/small"
    same 1 $rc "exit status"
    grep -q 'cannot write to .*/rank.[01]/stdout: No space left on device$' "$ERR" || fail "no line says why"
}

preload() {
    printf '#!/bin/sh\necho "$0 $(cat "$(dirname "$0")/data")"\n' >"$TMPDIR/prog"
    echo all of it >"$TMPDIR/data"
    chmod +x "$TMPDIR/prog"
    prints 2 '/jobs/1/prog all of it$' -n 2 --preload --preload-files "$TMPDIR/data" "$TMPDIR/prog"
    ln -s prog "$TMPDIR/link"
    prints 1 '/jobs/1/link all of it$' --preload --preload-files "$TMPDIR/data" "$TMPDIR/link"
    rc_of 1 pr --preload-files "$TMPDIR/link" true 2>"$ERR"
    lines 1 'cannot preload .*/link: it is a symbolic link$' "$ERR"
    rm "$TMPDIR/link"
    nothing() { [ -z "$(find "$TMPDIR" -mindepth 1 ! -name prog ! -name data)" ]; }
    until_true 5 nothing || fail "copies are left"
    rc_of 1 pr --preload-files "$TMPDIR/data,$TMPDIR/none" "$TMPDIR/prog" >"$OUT" 2>"$ERR"
    lines 1 'cannot preload .*/none: No such file or directory$' "$ERR"
    rc_of 1 pr --mca embedded_preload_limit 8 --preload-files "$TMPDIR/data" "$TMPDIR/prog" >"$OUT" 2>"$ERR"
    lines 1 'cannot preload .*/data: it is too big .parameter embedded_preload_limit.$' "$ERR"
    same 0 "$(wc -c <"$OUT")" "bytes of output"
    rm "$TMPDIR"/*
}

stdout_full() { # a full disk is an error
    [ -c /dev/full ] || skip "no /dev/full"
    local rc=0
    pr -n 2 seq 100 >/dev/full 2>"$ERR" || rc=$?
    [[ $rc != @(0|124) ]] || fail "exit status $rc"
    grep -q 'No space left' "$ERR" || fail "no line says why"
    # the linker's record would be opened as stdout
    rc_of 141 run 60 env -u LD_DEBUG sh -c '"$0" echo hi >&-' "$PMIXRUN" 2>"$ERR" # as the write of the process fails
    lines 1 'cannot write to standard output: it is not open for writing$' "$ERR"
    run 60 env -u LD_DEBUG sh -c '"$0" true >&-' "$PMIXRUN" 2>"$ERR"
    # unless output is not required: all ranks run to the end then
    pr --mca embedded_output_required false -n 2 sh -c "head -c 300000 /dev/zero; echo \$PMIX_RANK >>$TMP/ended" \
        >/dev/full 2>"$ERR"
    same 2 "$(wc -l <"$TMP/ended")" "ranks that go on"
    lines 1 'No space left' "$ERR"
}

# ---- spawned jobs -----------------------------------------------------------------------------

# The parent forwards the output of a spawned job. pmixrun tags its lines with "[1,0]".
forwarder() { pr --tag-output -n 1 "$CLIENT" forwarder "$@" >"$OUT" 2>"$ERR" || fail "$*: exit status $?: $(tail -1 "$ERR")"; }

forwarded() { # all output in order, for each way to request it, and whenever the parent leaves
    local how n=300000
    for how in job app event; do
        forwarder "$how" - seq 1 $n
        sed -n 's/^\[1,0\]<stdout>://p' "$OUT" | grep -v '^OK' | cmp - <(seq 1 $n) || fail "$how: output differs"
        forwarder "$how" - sh -c 'echo error >&2; printf "no end"'
        lines 1 '^\[1,0\]<stderr>:error$' "$ERR"
        lines 1 '^\[1,0\]<stdout>:no end(OK|$)' "$OUT"
    done
    for how in 0 1 2; do # then the rest comes out of pmixrun itself, which may still have lines of the parent to read
        forwarder leave job - sh -c "seq 1 1000; sleep 0.$how; seq 1001 $n"
        { sed -n 's/^\[1,0\]<stdout>://p' "$OUT" && sed '/^\[1,0\]<stdout>:/d' "$OUT"; } |
            grep -v '^OK' | cmp - <(seq 1 $n) || fail "leaving: output differs"
    done
}

forwarded_marks() { # tags of the host with the job's number, the time and the pid
    local key pattern time='20[-0-9]+T[0-9:.]+[+-][0-9:]+' how
    while read -r key pattern; do
        for how in job app; do
            forwarder $how "$key" sh -c 'echo "a<"; echo $$'
            lines 2 "^\\[1,0\\]<stdout>:$pattern\$" "$OUT"
        done
    done <<END
pmix.iof.tag \[2,0\]<stdout>:(a<|[0-9]+)
pmix.tagout \[2,0\]<stdout>:(a<|[0-9]+)
pmix.iof.rank \[0\]<stdout>:(a<|[0-9]+)
pmix.iof.ts ${time}<stdout>:(a<|[0-9]+)
pmix.iof.tagdet,pmix.iof.tagfull \[[^]]+-2,0\]\[$HOSTNAME:[0-9]+\]<stdout>:(a<|[0-9]+)
pmix.iof.xml <stdout nspace="[^"]+-2" rank="0">(a&lt;|[0-9]+)&#10;</stdout>
tenon.iof.json \{"nspace":"[^"]+-2","rank":0,"channel":"stdout","data":"(a<|[0-9]+)..".
END
    forwarder job pmix.iof.tagdet sh -c 'echo $$'
    same "" "$(sed -n 's/.*:\([0-9]*\)]<stdout>:\([0-9]*\)$/\1 \2/p' "$OUT" | awk '$1 != $2')" "pids in marks"
}

input_ends() { # with the last process that sends input
    local how
    for how in spawner mute pusher killed; do
        (cd "$TMPDIR" && pr --recoverable -n 2 "$CLIENT" feeder "$how" >"$OUT" 2>"$ERR") || [ "$how" = killed ] ||
            fail "$how: exit status $?: $(tail -1 "$ERR")"
        lines 1 '^OK feeder 0$' "$OUT"
        same "$([ "$how" = mute ] || echo text)" "$(cat "$TMPDIR/fed")" "input, $how"
        rm "$TMPDIR/fed"
    done
}

t texts_are_logged logged
t stdin_of_300_kB_from_a_file stdin_file
t stdin_empty stdin_null
t stdin_closed stdin_closed
t stdout_with_a_line_of_a_million_bytes long_line
t stdout_with_tags_as_of_mpirun marked
t stderr_merged_into_stdout merged
t output_in_words words
t progress_on_a_terminal progress
t top_without_a_terminal top
t ranks_have_a_terminal terminal
t output_in_files_as_of_mpirun output_dir
t output_that_cannot_go_to_files output_refused
t output_to_a_full_disk output_dir_full
t program_and_files_are_preloaded preload
t stdout_on_a_full_disk stdout_full
t output_of_another_job_comes_to_its_parent forwarded
t tags_of_output_that_comes_to_a_parent forwarded_marks
t input_ends_with_the_process_that_feeds_it input_ends
suite_end
