# SPDX-License-Identifier: BSD-3-Clause
"""A connection to a server in the bytes of the protocol: dialect v41, without type descriptions."""
import os
import select
import socket
import struct
import time

TIMEOUT_S = 15
NATIVE, V41, NON_DESC = b"native", b"v41", 1
FIRST_TAG = 200

SUCCESS, BAD_PARAM, OUT_OF_RESOURCE, NOT_FOUND = 0, -27, -29, -46
UNDEF, BOOL, STRING, INT, INFO, BYTES, DATA_ARRAY, PROC, ENVAR = 0, 1, 3, 6, 24, 27, 39, 22, 46
WILDCARD = 0xFFFFFFFE


# ---- the server and its clients' environment ---------------------------------------------------

def environment(path):
    """Reads an environment, NUL-terminated as in /proc/PID/environ."""
    with open(path, "rb") as f:
        pairs = [e.partition(b"=") for e in f.read().split(b"\0") if e]
    return {name.decode(): value.decode() for name, _, value in pairs}


class Target:
    """Addresses of the server, and the rank in the environment."""

    def __init__(self, env):
        self.nspace, self.rank = env["PMIX_NAMESPACE"], int(env["PMIX_RANK"])
        self.tcp = env["PMIX_SERVER_URI41"].split(";")[1]
        own = env.get("TENON_SERVER_URI", "").split(";")
        self.addresses = [self.tcp] + own[2:]

    def connect(self, address=None):
        address = address or self.tcp
        scheme, rest = address.split("://")
        if scheme == "usock":
            s = socket.socket(socket.AF_UNIX)
        else:
            host, port = rest.rsplit(":", 1)
            s, rest = socket.socket(), (host, int(port))
        s.settimeout(TIMEOUT_S)
        s.connect(rest)
        return s

    def connect_best(self):
        """Connects by the last address that this user may use: the Unix socket, where the server's folder is ours."""
        for address in reversed(self.addresses):
            try:
                return self.connect(address)
            except PermissionError:
                continue
        raise ConnectionError("no address of the server can be used")

    def hello(self, nspace=None, rank=None, flag=0, cred=None, module=NATIVE, dialect=V41,
              gds=b"hash", tail=b""):
        """Returns the connect message of wire section 2.2, with the header in host order."""
        if cred is None:
            cred = struct.pack("=II", os.geteuid(), os.getegid())
        body = module + b"\0" + struct.pack(">I", len(cred)) + cred + bytes([flag])
        if flag:
            body += struct.pack(">II", os.geteuid(), os.getegid())
        body += (self.nspace if nspace is None else nspace).encode() + b"\0"
        body += struct.pack(">I", self.rank if rank is None else rank)
        body += b"4.2.9\0" + dialect + b"\0" + bytes([NON_DESC]) + gds + b"\0" + tail
        return framed(body)


def header(length):
    return struct.pack("=iIII", -1, 0xFFFFFFFF, length, 0)


def framed(body):
    return header(len(body)) + body


def receive(s, n):
    """Returns n bytes, or fewer at the end of the stream."""
    got = b""
    try:
        while len(got) < n:
            more = s.recv(n - len(got))
            if not more:
                break
            got += more
    except ConnectionResetError:
        pass
    return got


def welcomed(s):
    answer = receive(s, 8)
    return len(answer) == 8 and struct.unpack(">i", answer[:4])[0] == 0


def request(payload, tag=FIRST_TAG):
    """Returns a frame: a header in network order (index, tag, length, pad), and the payload."""
    return struct.pack(">IIII", 1, tag, len(payload), 0) + payload


# ---- packed values -----------------------------------------------------------------------------

def flex(u):
    """Packs an unsigned number: seven bits a byte, low bits first."""
    out = bytearray()
    while u > 0x7F:
        out.append(u & 0x7F | 0x80)
        u >>= 7
    out.append(u)
    return bytes(out)


def signed(i):
    return flex(2 * i if i >= 0 else -2 * i - 1)


def string(text):
    data = text.encode() + b"\0"
    return signed(len(data)) + data


def proc(nspace, rank):
    return string(nspace) + flex(rank)


def info(key, kind, value):
    """Packs an info of a packed value of this type."""
    return string(key) + flex(0) + flex(kind) + value


def array(kind, items):
    """Packs a data array of packed items."""
    return flex(kind) + flex(len(items)) + b"".join(items)


def one(value):
    """Packs an operation of one value."""
    return signed(1) + value


def many(items):
    """Packs a count, and if there are items, an operation that packs them all."""
    return one(flex(len(items))) + (signed(len(items)) + b"".join(items) if items else b"")


def each(items):
    """Packs a count, and one operation for each item."""
    return one(flex(len(items))) + b"".join(map(one, items))


def kval(key, kind, value):
    """Packs a key with a packed value of this type."""
    return one(string(key) + flex(kind) + value)


def section(scope, kvals):
    """Packs the values of one scope of a commit."""
    return one(bytes([scope])) + one(bytes([NON_DESC]) + flex(len(kvals)) + kvals)


def command(op):
    return one(bytes([op]))


def app(cmd, argv, env, infos=(), maxprocs=1):
    return b"".join((string(cmd), signed(len(argv)), *argv, signed(len(env)), *env, string("/"),
                     signed(maxprocs), flex(len(infos)), *infos))


# ---- a client that waits for each reply --------------------------------------------------------

class Caller:
    """A client after its handshake."""

    def __init__(self, target, **names):
        self.socket = target.connect_best()
        self.socket.sendall(target.hello(**names))
        if not welcomed(self.socket):
            raise ConnectionError("the server refuses the client")

    def send(self, payload):
        self.socket.sendall(request(payload))

    def reply(self):
        """Returns the payload of the next frame."""
        length = struct.unpack(">IIII", receive(self.socket, 16))[2]
        return receive(self.socket, length)

    def call(self, payload):
        self.send(payload)
        return self.reply()


# ---- a client that need not wait for its replies -----------------------------------------------

class Client:
    """A client after its handshake. Requests are queued in phases before the first is sent. statuses counts the
    statuses of replies. lost: the server has closed the connection."""

    def __init__(self, target):
        self.target, self.socket = target, target.connect_best()
        self.socket.sendall(target.hello())
        if not welcomed(self.socket):
            raise ConnectionError("the server refuses the client")
        self.socket.setblocking(False)
        self.tag, self.phases, self.counted = FIRST_TAG, [], set()
        self.statuses, self.lost, self.received = {}, False, bytearray()
        self.next_phase()

    def next_phase(self):
        """The requests that follow are sent after the awaited replies to the ones before."""
        self.awaited = set()
        self.phases.append((bytearray(), self.awaited))

    def ask(self, payload, waits=True, counts=True):
        """Queues a request. waits: the phase lasts until the reply. counts: the reply's status is counted."""
        self.tag += 1
        if waits:
            self.awaited.add(self.tag)
        if counts:
            self.counted.add(self.tag)
        self.phases[-1][0].extend(request(payload, self.tag))

    def run(self, deadline):
        """Runs all phases. Returns false at the deadline, or if the server closes the connection."""
        for out, self.awaited in self.phases:
            if not self.settle(memoryview(out), deadline):
                return False
        return True

    def settle(self, out, deadline):
        at = 0
        while (at < len(out) or self.awaited) and not self.lost:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            readable, writable, _ = select.select([self.socket], [self.socket] if at < len(out) else [], [], left)
            try:
                if writable:
                    at += self.socket.send(out[at:at + (1 << 20)])
                if readable:
                    self.take(self.socket.recv(1 << 20))
            except BlockingIOError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                self.lost = True
        return not self.lost

    def take(self, data):
        self.lost = not data
        self.received += data
        at = 0
        while len(self.received) - at >= 16:
            _, tag, length, _ = struct.unpack_from(">IIII", self.received, at)
            if len(self.received) - at < 16 + length:
                break
            if tag in self.counted:
                status = read_status(self.received[at + 16:at + 32])
                self.statuses[status] = self.statuses.get(status, 0) + 1
            self.awaited.discard(tag)
            at += 16 + length
        del self.received[:at]


def read_status(payload):
    """Returns the status at the beginning of a reply."""
    u = shift = 0
    for byte in payload[1:]:
        u |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return u // 2 if u % 2 == 0 else -(u + 1) // 2
