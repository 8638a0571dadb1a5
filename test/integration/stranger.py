#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""stranger.py ENVIRONMENT ATTACK: attacks a server by a connection, or connects as a client does.
ENVIRONMENT is a file with the environment of a rank, NUL-terminated as in /proc/PID/environ.
Exit status 0 if the server answers the attack as expected."""
import os
import socket
import struct
import sys
import time

from px_wire import NATIVE, TIMEOUT_S, Target, command, environment, framed, header, receive, request, welcomed


def refused(s):
    """True if the server sends a negative status or nothing, and closes."""
    answer = receive(s, 8)
    if len(answer) == 4:
        return struct.unpack(">i", answer)[0] < 0
    return answer == b""


def send(s, data):
    try:
        s.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass  # refused before the whole message was read: the answer is checked


def sent(target, data, address=None):
    s = target.connect(address)
    send(s, data)
    return s


def on_each_address(target, data, wanted):
    return all(wanted(sent(target, data, a)) for a in target.addresses)


# ---- attacks: each returns true if the answer was right --------------------------------------


def good_client(target):
    return on_each_address(target, target.hello(), welcomed)


# False statements in connect messages, which are refused.
FALSE = {
    "wrong_nspace": {"nspace": "nobodys-job"},
    "empty_nspace": {"nspace": ""},
    "long_nspace": {"nspace": "n" * 5000},
    "wrong_rank": {"rank": 4711},
    "wild_rank": {"rank": 0xFFFFFFFE},
    "lying_credential": {"cred": struct.pack("=II", 4711, 4711)},
    "wrong_module": {"module": b"open-sesame"},
    "wrong_dialect": {"dialect": b"v99"},
    "wrong_role": {"flag": 77},
}


# Data that is not a connect message.
NONSENSE = {
    "text": b"GET / HTTP/1.0\r\n\r\n" * 10,
    "giant_length": header(0xFFFFFFF0) + b"x" * 1000,
    "zero_length": header(0),
    "giant_credential": framed(NATIVE + b"\0" + struct.pack(">I", 0xFFFFFFF0) + b"c" * 50),
    "unterminated": framed(b"n" * 100),
}


def wrong_uid(target):
    """Run as another user: a credential that claims to be root is refused, too."""
    claim = struct.pack("=II", 0, 0)
    return all(refused(sent(target, target.hello(cred=c))) for c in (None, claim))


def closed_door(target):
    """Run as another user: the socket's folder is closed to that user."""
    for address in target.addresses:
        if address.startswith("usock"):
            try:
                target.connect(address)
            except PermissionError:
                return True
    return False


def garbage(target):
    return on_each_address(target, os.urandom(20000), refused)


def cut_short(target):
    """Closes the connection in the middle of a message."""
    data = target.hello()
    for n in (1, 16, 20, len(data) - 1):
        sent(target, data[:n]).close()
    return True


def one_byte_at_a_time(target):
    s = target.connect()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in target.hello():
        s.sendall(bytes([byte]))
        time.sleep(0.005)
    return welcomed(s)


def sends_nothing(target):
    """Expects that the server closes a silent connection after a while."""
    return receive(target.connect(), 1) == b""


def half_open(target):
    """Expects that five hundred silent strangers do not delay a client."""
    strangers = [target.connect() for _ in range(500)]
    start = time.monotonic()
    good = welcomed(sent(target, target.hello()))
    took = time.monotonic() - start
    for s in strangers:
        s.close()
    if took > 1:
        print("the good client waited %.2f s" % took)
    return good and took <= 1


# After a proper handshake.


def joined(target, data):
    """True if the server closes a proper client's connection after this data."""
    s = sent(target, target.hello())
    if not welcomed(s):
        return False
    send(s, data)
    s.settimeout(TIMEOUT_S)
    while True:
        try:
            if not s.recv(65536):
                return True
        except ConnectionResetError:
            return True
        except socket.timeout:
            return False


def giant_frame(target):
    return joined(target, struct.pack(">IIII", 1, 200, 0xFFFFFFF0, 0) + b"x" * 1000)


def answered_or_ended(target, data):
    """True if the server answers an invalid request with an error, or closes."""
    s = sent(target, target.hello())
    if not welcomed(s):
        return False
    send(s, data)
    s.settimeout(0.05)
    try:
        s.recv(65536)
    except (ConnectionResetError, socket.timeout):
        pass
    return True


def unknown_request(target):
    return answered_or_ended(target, request(command(0xFE) + b"x" * 40))


def random_requests(target):
    return all(answered_or_ended(target, request(command(op) + os.urandom(60)))
               for op in range(0, 50) for _ in range(3))


def cut_requests(target):
    """Sends commands without their arguments."""
    return all(answered_or_ended(target, request(command(op)[:n]))
               for op in range(0, 50) for n in (1, 2))


def empty_request(target):
    return answered_or_ended(target, request(b""))


def main():
    target, attack = Target(environment(sys.argv[1])), sys.argv[2]
    if attack in FALSE:
        right = refused(sent(target, target.hello(**FALSE[attack])))
    elif attack in NONSENSE:
        right = refused(sent(target, NONSENSE[attack]))
    else:
        right = globals()[attack](target)
    if not right:
        sys.exit("stranger.py: %s: not the answer that it should get" % attack)


if __name__ == "__main__":
    main()
