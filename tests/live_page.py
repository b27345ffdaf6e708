"""`tactus play` as a page meets it (docs/protocol.md, docs/server.md), with nothing but Python's own library: for soak.py and the fuzzer.

    with Play(tactus, "world.tact", "--speed", 100) as play:
        page = play.open()
        page.send({"type": "hello", "version": 1})
        world = page.wait_for("world")
"""
import base64
import json
import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import tempfile
import time

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
# Nobody who is alive takes longer, however busy the machine is.
LONGEST_WAIT = 180


class Closed(Exception):
    """The other side has ended the connection."""


class Frame:
    """A picture of the world: docs/protocol.md says where what is."""

    def __init__(self, data, heard):
        self.heard = heard  # how many messages came before it
        kind, self.generation, self.flags, count, self.time = struct.unpack_from("<IIIId", data)
        if kind != 1 or len(data) != 96 + 8 * count:
            raise ValueError(f"a frame of kind {kind}, {count} values and {len(data)} bytes")
        self.position = struct.unpack_from("<3d", data, 24)
        self.velocity = struct.unpack_from("<3d", data, 48)
        self.force = struct.unpack_from("<3d", data, 72)
        self.values = struct.unpack_from(f"<{count}d", data, 96)


class Page:
    """One socket. What is not asked for by wait_for stays in `messages` and `frames` until it is taken."""

    def __init__(self, port, cookie, key):
        host = f"127.0.0.1:{port}"
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=LONGEST_WAIT)
        self.socket.sendall((f"GET /socket?key={key} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nCookie: {cookie}\r\nSec-WebSocket-Version: 13\r\n"
                             f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n").encode())
        self.waiting = b""
        self.messages = []  # each with its number, `number`
        self.frames = []
        self.heard = 0  # messages so far
        self.code = None  # with which the other side closed
        while b"\r\n\r\n" not in self.waiting:
            self._read()
        head, self.waiting = self.waiting.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n", 1)[0]:
            raise Closed(head.decode("latin1"))

    def _read(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise Closed("the connection has ended")
        self.waiting += data

    def send(self, message):
        self.send_raw(TEXT, (message if isinstance(message, str) else json.dumps(message)).encode("utf8", "surrogateescape"))

    def send_raw(self, opcode, payload, final=True, masked=True, reserved=0):
        head = bytes([(0x80 if final else 0) | reserved << 4 | opcode])
        size, mask = len(payload), 0x80 if masked else 0
        if size < 126:
            head += bytes([mask | size])
        elif size < 1 << 16:
            head += bytes([mask | 126]) + struct.pack(">H", size)
        else:
            head += bytes([mask | 127]) + struct.pack(">Q", size)
        if masked:
            key = os.urandom(4)
            head += key
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes((key * (size // 4 + 1))[:size], "big")).to_bytes(size, "big")
        self.send_bytes(head + payload)

    def send_bytes(self, data):
        # What comes meanwhile is read: two that only write would wait for each other.
        view = memoryview(data)
        while view:
            readable, writable, _ = select.select([self.socket], [self.socket], [], LONGEST_WAIT)
            if readable:
                self._read()
            if writable:
                try:
                    view = view[self.socket.send(view[:1 << 16]):]
                except (BrokenPipeError, ConnectionResetError) as failure:
                    raise Closed(str(failure)) from failure
            if not readable and not writable:
                raise TimeoutError("the server takes nothing more")

    def _take(self):
        """Whole messages out of the bytes that are there."""
        while len(self.waiting) >= 2:
            opcode, size, at = self.waiting[0] & 15, self.waiting[1] & 127, 2
            if size >= 126:
                width = 2 if size == 126 else 8
                if len(self.waiting) < 2 + width:
                    return
                size, at = int.from_bytes(self.waiting[2:2 + width], "big"), 2 + width
            if len(self.waiting) < at + size:
                return
            payload, self.waiting = self.waiting[at:at + size], self.waiting[at + size:]
            if opcode == TEXT:
                self.heard += 1
                self.messages.append({**json.loads(payload), "number": self.heard})
            elif opcode == BINARY:
                self.frames.append(Frame(payload, self.heard))
            elif opcode == PING:
                self.send_raw(PONG, payload)
            elif opcode == CLOSE:
                self.code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None
                raise Closed(f"closed with {self.code}")

    def listen(self, seconds):
        """Takes in all that comes within so many seconds."""
        end = time.monotonic() + seconds
        while True:
            self._take()
            left = end - time.monotonic()
            if not select.select([self.socket], [], [], max(0, left))[0]:
                return
            try:
                self._read()
            except ConnectionResetError as failure:
                raise Closed(str(failure)) from failure
            if left <= 0:
                self._take()
                return

    def wait_for(self, kind, holds=lambda message: True, longest=LONGEST_WAIT, alive=lambda: True):
        """The first message of this type for which it holds; what came before it is dropped."""
        end = time.monotonic() + longest
        while True:
            while self.messages:
                message = self.messages.pop(0)
                if message["type"] == kind and holds(message):
                    return message
            if time.monotonic() > end:
                raise TimeoutError(f"no `{kind}` within {longest} s")
            if not alive():
                raise Closed("the program has ended")
            self.listen(0.05)

    def close(self):
        self.socket.close()


class Play:
    """The program, with its page on some port."""

    def __init__(self, tactus, file, *options, limits=None, environment=None):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([tactus, "play", str(file), "--no-browser", "--json", *map(str, options)],
                                        stdout=subprocess.PIPE, stderr=self.errors, stdin=subprocess.DEVNULL, preexec_fn=limits,
                                        env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        try:
            address = json.loads(line)["url"]
        except (json.JSONDecodeError, KeyError, TypeError) as failure:
            _, rest = self.end(signal.SIGKILL)
            raise RuntimeError(f"no address, but {(line + rest).decode('utf8', 'replace')}\n{self.said()}") from failure
        self.port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)", address).groups()
        answer = self.request(f"/?token={token}")
        self.cookie = re.search(r"set-cookie:\s*([^;\r\n]+)", answer, re.I).group(1)
        self.key = re.search(r"#key=(\w+)", answer).group(1)

    def request(self, target, fields=""):
        with socket.create_connection(("127.0.0.1", int(self.port)), timeout=LONGEST_WAIT) as connection:
            connection.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{fields}Connection: close\r\n\r\n".encode())
            answer = b""
            while part := connection.recv(1 << 16):
                answer += part
        return answer.decode("latin1")

    def open(self):
        return Page(int(self.port), self.cookie, self.key)

    def is_alive(self):
        return self.process.poll() is None

    def memory(self):
        """kB in use."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1))

    def cpu(self):
        """Seconds of processor time of the program and of children that have ended."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode("utf8", "replace")

    def end(self, number=signal.SIGINT):
        """The exit code, negative for a signal, and what was printed; None if it does not end."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            out, _ = self.process.communicate(timeout=LONGEST_WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            return None, b""
        return self.process.returncode, out

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
