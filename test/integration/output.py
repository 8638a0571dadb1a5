#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Output of processes comes out of pmixrun, each byte once, in order and in whole lines, with all kinds of writers and
readers. Input reaches the selected ranks. meson sets TENON_BUILD. OUTPUT_SEED: seed of the contents."""
import base64
import collections
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from px_test import kill, times

BUILD = os.environ["TENON_BUILD"]
PMIXRUN = os.path.join(BUILD, "contrib/tools/pmixrun")
CLIENT = os.path.join(BUILD, "test/integration/client")
SEED = int(os.environ.get("OUTPUT_SEED", time.time_ns() % 1000000))
RANKS = times(32, 1024, 32 if os.environ.get("TENON_SANITIZE") else 128)
LINES = 1000
INPUT_B = times(64, 1024) << 20
TIMEOUT_S = 240
MOST_KIB = 160 * 1024  # of pmixrun's memory, for any amount of unread output
RECORD = re.compile(rb"<(\d+) (\d) (\d+) ([^<>]*?) ([0-9a-f]{8})>\n?")
NO_END = re.compile(rb".*<\d+ \d \d+ end [0-9a-f]{8}>")
MARKED = re.compile(rb"20[-0-9]{8}T[0-9:]{8}\.[0-9]{6}[+-][0-9:]{5}\[1,(\d+)\]<std(?:out|err)>:(.*)")
# Time to wait for the end of a line. After this time pmixrun writes the part, and other lines may come between.
WAIT = ("--mca", "iof_gather_time", "60s")


class Failed(Exception):
    pass


def expect(so, what):
    if not so:
        raise Failed(what)


def start(*command, **how):
    env = {k: v for k, v in os.environ.items() if not re.match("(PMIX_|TENON_SERVER_URI|OMPI_|SLURM|LD_)", k)}
    return subprocess.Popen([PMIXRUN, *command], env=env, **how)


def run(*command, **how):
    """Runs pmixrun; returns status, output, errors."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        job = start(*command, **{"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **how})
        try:
            job.wait(TIMEOUT_S)
        finally:
            kill(job.pid)
            job.wait()
        found = []
        for f in (out, err):
            f.seek(0)
            found.append(f.read())
        return job.returncode, *found


# ---- every byte by its origin ---------------------------------------------------------------------------


def checksum(text):
    total = 2166136261
    for byte in text:
        total = (total ^ byte) * 16777619 & 0xffffffff
    return total


class Account:
    """Records of each stream so far. Checksums are slow in Python, so only one of `some` records is checked."""

    def __init__(self, some=8):
        self.next, self.ended, self.some = collections.Counter(), set(), some

    def take(self, text):
        at = 0
        for record in RECORD.finditer(text):
            expect(record.start() == at, "not a record: %r" % text[at:record.start()][:200])
            at = record.end()
            rank, channel, number = (int(record[i]) for i in (1, 2, 3))
            stream = rank, channel
            expect(number == self.next[stream], "record %d of %s after %d" % (number, stream, self.next[stream] - 1))
            expect(stream not in self.ended, "a record after the end of %s" % (stream,))
            self.next[stream] += 1
            if record[4].startswith(b"end"):
                self.ended.add(stream)
            expect(stream in self.ended or record[0].endswith(b"\n"), "a line without its end")
            if number % self.some == rank % self.some:
                expect(checksum(record[0][1:].rsplit(b" ", 1)[0]) == int(record[5], 16), "bytes of %r" % record[0][:80])
        expect(at == len(text), "not a record: %r" % text[at:][:200])

    def settle(self, ranks):
        missing = {(rank, channel) for rank in range(ranks) for channel in (1, 2)} - self.ended
        expect(not missing, "no end of %s" % sorted(missing)[:8])


def the_checker_fails():
    """Expects failures for lost, doubled, torn, changed and inserted records."""
    def record(text, end=b"\n"):
        return b"<%s %08x>%s" % (text, checksum(text), end)

    first, second, last = record(b"0 1 0 one"), record(b"0 1 1 two"), record(b"0 1 2 end", b"")
    for text in (second + last, first + first + last, first + second, first[:5] + second, first[:5] + second + first[5:],
                 first.replace(b"one", b"oen") + second + last, first + b"x" + second + last,
                 first + second + last + second, record(b"0 1 0 one", b"") + second + last):
        account = Account(some=1)
        try:
            account.take(text)
            expect({(0, 1)} == account.ended, "no end")
        except Failed:
            continue
        raise Failed("this passes: %r" % text)


def writers(ranks, end, *options):
    status, out, err = run(*WAIT, *options, "-n", str(ranks), CLIENT, "writer", str(SEED), str(LINES), end)
    account = Account()
    if "--merge-stderr-to-stdout" in options:
        expect(err == b"", "errors that are merged: %r" % err[:200])
        account.take(out)
    else:
        account.take(out)
        account.take(re.sub(rb"pmixrun: .*\n", b"", err))  # behind the last line, which has no end
    account.settle(ranks)
    return status


def many_writers():
    expect(writers(RANKS, "exit") == 0, "the job fails")


def many_merged():
    expect(writers(RANKS // 4, "exit", "--merge-stderr-to-stdout") == 0, "the job fails")


def many_marked():
    """Expects a mark before each line, also before the last one, which has no end."""
    status, out, err = run(*WAIT, "--tag-output", "--timestamp-output", "--merge-stderr-to-stdout", "-n", str(RANKS // 4),
                           CLIENT, "writer", str(SEED), str(LINES), "exit")
    lines = [MARKED.fullmatch(line) for line in out.splitlines()]
    expect(status == 0 and err == b"" and all(lines), "a line without a mark")
    expect(all(line[2].startswith(b"<%s " % line[1]) for line in lines), "a line with the mark of another rank")
    account = Account()
    account.take(b"".join(line[2] + (b"" if NO_END.fullmatch(line[2]) else b"\n") for line in lines))
    account.settle(RANKS // 4)


def from_json(text):
    """Returns the bytes of lines of JSON."""
    found = [json.loads(line.decode()) for line in text.splitlines()]
    return b"".join(base64.b64decode(o["data64"]) if "data64" in o else o["data"].encode() for o in found)


def many_in_json():
    """Expects the records of many writers, and each value of a byte, in lines of JSON."""
    status, out, err = run(*WAIT, "--output", "json", "-n", str(RANKS // 4), CLIENT, "writer", str(SEED), str(LINES), "exit")
    expect(status == 0, "the job fails")
    account = Account()
    account.take(from_json(out))
    account.take(from_json(err))
    account.settle(RANKS // 4)
    wanted = subprocess.run([CLIENT, "bytes"], check=True, capture_output=True).stdout
    expect(from_json(run("--output", "json", CLIENT, "bytes")[1]) == wanted, "other bytes")


def last_words():
    """Expects output from right before the end of a process, for each kind of end. Its end ends the job."""
    for end, wanted in (("_exit", 0), ("abort", 128 + signal.SIGABRT), ("kill", 128 + signal.SIGKILL)):
        for _ in range(times(5, 100)):
            status = writers(1, end)
            expect(status == wanted, "%s: exit status %d" % (end, status))


# ---- readers --------------------------------------------------------------------------------------------


def resident_kib(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmHWM:\s*(\d+)", f.read())[1])


def slow_reader():
    """Reads nothing until all writers wait, then slowly: pmixrun slows the writers, and buffers little."""
    ranks = RANKS // 2
    account = Account()
    job = start(*WAIT, "--merge-stderr-to-stdout", "-n", str(ranks), CLIENT, "writer", str(SEED), str(LINES), "exit",
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        before, same = -1, 0
        while same < 5:  # its memory does not grow any more
            time.sleep(.1)
            now = resident_kib(job.pid)
            same, before = (same + 1 if now == before else 0), now
        account.take(job.stdout.read())
        account.settle(ranks)
        expect(job.wait(TIMEOUT_S) == 0, "exit status %d" % job.returncode)
        if not os.environ.get("TENON_SANITIZE"):
            expect(before < MOST_KIB, "%d KiB are kept" % before)
    finally:
        kill(job.pid)
        job.wait()


def reader_gone():
    """Expects that writers get SIGPIPE after the end of the reader, as without a launcher."""
    for n in (0, 1, 100000):
        job = start("-n", "4", "yes", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            expect(len(job.stdout.read(n)) == n, "no output")
            job.stdout.close()
            expect(job.wait(60) == 128 + signal.SIGPIPE, "exit status %d" % job.returncode)
        finally:
            kill(job.pid)
            job.wait()


# ---- input ----------------------------------------------------------------------------------------------


def feed(pipe, n):
    """Writes n bytes that do not repeat, and closes; returns their hash."""
    total, block, left = hashlib.sha256(), hashlib.sha256(b"%d" % SEED).digest() * 2048, n
    try:
        while left > 0:
            block = block[1:] + bytes([left & 255])
            part = block[:left]
            pipe.write(part)
            total.update(part)
            left -= len(part)
    except BrokenPipeError:
        pass
    pipe.close()
    return total.hexdigest().encode()


STALL = 'i=0; while [ $i -lt 4 ]; do head -c 100000; i=$((i + 1)); sleep 0.1; done; cat'


def given_input(to, ranks, readers):
    """Expects that the readers get the whole input, by SHA-256, and that all others get an end at once."""
    sums = 'if [ $PMIX_RANK = 1 ]; then { %s; }; else cat; fi | sha256sum | sed "s/ .*/ $PMIX_RANK/"' % STALL
    options = ["--stdin", to] if to else []
    with tempfile.TemporaryFile() as out:
        job = start(*options, "-n", str(ranks), "sh", "-c", sums, stdin=subprocess.PIPE, stdout=out)
        try:
            wanted = feed(job.stdin, INPUT_B if readers else 0)
            expect(job.wait(TIMEOUT_S) == 0, "exit status %d" % job.returncode)
        finally:
            kill(job.pid)
            job.wait()
        out.seek(0)
        found = {int(rank): total for total, rank in (line.split() for line in out.read().splitlines())}
    nothing = hashlib.sha256().hexdigest().encode()
    for rank in range(ranks):
        expect(found.get(rank) == (wanted if rank in readers else nothing), "rank %d got other bytes" % rank)


def input_to_first():
    given_input(None, 2, {0})


def input_to_another():
    given_input("1", 3, {1})


def input_to_all():
    given_input("all", 3, {0, 1, 2})


def input_to_none():
    given_input("none", 2, set())


def input_without_end():
    """Expects that a job does not wait for the end of input without a reader."""
    for to in ("0", "all"):
        job = start("--stdin", to, "-n", "2", "head", "-c", "3", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            job.stdin.write(b"abcdef")
            job.stdin.flush()
            expect(job.stdout.read() == b"abc" * (2 if to == "all" else 1), "other bytes")
            expect(job.wait(30) == 0, "exit status %d" % job.returncode)
        finally:
            job.stdin.close()
            kill(job.pid)
            job.wait()


# ---- limits ---------------------------------------------------------------------------------------------


def few_descriptors():
    """Expects one error, and no waiting process."""
    status, out, err = run("-n", "200", "sh", "-c", "echo $PMIX_RANK; exec sleep 100",
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    expect(status not in (0, None), "it starts 200 processes by 64 descriptors")
    expect(out == b"" and 0 < err.count(b"\n") <= 2 and b"cannot" in err, "it says %r" % err[:500])


CASES = (the_checker_fails, many_writers, many_merged, many_marked, many_in_json, last_words, slow_reader, reader_gone, input_to_first, input_to_another, input_to_all,
         input_to_none, input_without_end, few_descriptors)


def main():
    if not os.path.exists("/proc/self/exe"):  # programs of the build folder find the library by it
        print("SKIP output: needs /proc")
        return 77
    wanted, failed = sys.argv[1:], 0
    cases = [case for case in CASES if not wanted or case.__name__ in wanted]
    for case in cases:
        began = time.monotonic()
        try:
            case()
            print("PASS %s (%.1f s)" % (case.__name__, time.monotonic() - began), flush=True)
        except (Failed, subprocess.TimeoutExpired, OSError) as e:
            failed += 1
            print("FAIL %s: %s (OUTPUT_SEED=%d)" % (case.__name__, e, SEED), flush=True)
    print("%d passed, %d failed, 0 skipped" % (len(cases) - failed, failed))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
