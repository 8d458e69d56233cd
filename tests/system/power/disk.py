"""A disk with a volatile cache, as the cards of boards have one: what was not flushed may be lost, block by block.

It is served to an emulator by the protocol of network block devices, as much of it as QEMU asks for.
"""

import io
import os
import random
import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path

BLOCK = 4096
"""Bytes that are there as a whole or not at all: the block of the file system, and the page of a flash memory."""

KEPT = 0.0, 0.5
"""Of the blocks in the cache, what share outlasts a power cut: there are disks of each kind."""

_HELLO = struct.pack(">QQH", 0x4E42444D41474943, 0x49484156454F5054, 0b11)  # fixed newstyle, no zeroes
_OPTION = struct.Struct(">QII")
_OPTION_REPLY = struct.Struct(">QIII")
_REPLY_MAGIC = 0x3E889045565A9
_GO = 7
_ACKNOWLEDGED, _INFO, _UNSUPPORTED = 1, 3, 0x80000001
_FLAGS = 0b101  # it can flush
_REQUEST = struct.Struct(">IHHQQI")
_ANSWER = struct.Struct(">IIQ")
_ANSWER_MAGIC = 0x67446698
_READ, _WRITE, _DISCONNECT, _FLUSH = range(4)


class Disk:
    """The disk in a file of its own; used by one machine after the other."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._cache: dict[int, bytes] = {}
        self._thread: threading.Thread | None = None
        self._steps = 0
        self._last: int | None = None
        self._connection: socket.socket | None = None

    def serve(self, socket_path: Path) -> None:
        """For the one machine that connects."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(socket_path))
        listener.listen()
        self._steps, self._last = 0, None
        self._thread = threading.Thread(target=self._serve, args=(listener,), daemon=True)
        self._thread.start()

    @property
    def steps(self) -> int:
        """How often this machine has written or flushed so far."""
        return self._steps

    def cut_after(self, steps: int) -> None:
        """So many more writes and flushes are done, and then nothing any more."""
        self._last = self._steps + steps

    def cut(self) -> None:
        """Nothing is done any more from this moment on."""
        assert self._connection is not None
        with suppress(OSError):  # it may have ended already
            self._connection.shutdown(socket.SHUT_RDWR)

    def wait(self, timeout: float) -> bool:
        """Whether the machine is gone, in that time."""
        assert self._thread is not None
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def lose(self, chance: random.Random) -> tuple[int, int]:
        """The power is gone: of what was not flushed, some is lost. How many blocks, of how many."""
        kept, cached = chance.choice(KEPT), len(self._cache)
        lost = 0
        for number in sorted(self._cache):
            if chance.random() < kept:
                os.pwrite(self._file, self._cache[number], number * BLOCK)
            else:
                lost += 1
        self._cache.clear()
        return lost, cached

    def close(self) -> None:
        """The file is no more needed."""
        os.close(self._file)

    def _serve(self, listener: socket.socket) -> None:
        with listener:
            connection = self._connection = listener.accept()[0]
        with suppress(EOFError, OSError), connection, connection.makefile("rwb") as stream:
            self._negotiate(stream)
            while self._answer(stream):
                pass

    def _negotiate(self, stream: io.BufferedRWPair) -> None:
        stream.write(_HELLO)
        stream.flush()
        _take(stream, 4)  # flags that change nothing
        size = os.fstat(self._file).st_size
        while True:
            _, option, length = _OPTION.unpack(_take(stream, _OPTION.size))
            _take(stream, length)
            if option == _GO:
                info = struct.pack(">HQH", 0, size, _FLAGS)
                stream.write(_OPTION_REPLY.pack(_REPLY_MAGIC, option, _INFO, len(info)) + info)
            answer = _ACKNOWLEDGED if option == _GO else _UNSUPPORTED
            stream.write(_OPTION_REPLY.pack(_REPLY_MAGIC, option, answer, 0))
            stream.flush()
            if option == _GO:
                return

    def _answer(self, stream: io.BufferedRWPair) -> bool:
        _, _, kind, handle, offset, length = _REQUEST.unpack(_take(stream, _REQUEST.size))
        if kind == _DISCONNECT:
            return False
        if kind in (_WRITE, _FLUSH):
            if self._steps == self._last:
                return False
            self._steps += 1
        content = b""
        if kind == _READ:
            content = self._read(offset, length)
        elif kind == _WRITE:
            self._write(offset, _take(stream, length))
        elif kind == _FLUSH:
            self._flush()
        stream.write(_ANSWER.pack(_ANSWER_MAGIC, 0, handle) + content)
        stream.flush()
        return True

    def _read(self, offset: int, length: int) -> bytes:
        found = bytearray(os.pread(self._file, length, offset))
        for number in range(offset // BLOCK, -(-(offset + length) // BLOCK)):
            if (block := self._cache.get(number)) is not None:
                begin = number * BLOCK - offset
                part = block[max(-begin, 0) : length - begin]
                found[max(begin, 0) : max(begin, 0) + len(part)] = part
        return bytes(found)

    def _write(self, offset: int, content: bytes) -> None:
        begin = offset % BLOCK
        if begin or len(content) % BLOCK:
            whole = bytearray(self._read(offset - begin, -(-(begin + len(content)) // BLOCK) * BLOCK))
            whole[begin : begin + len(content)] = content
            content = bytes(whole)
        for place in range(0, len(content), BLOCK):
            self._cache[offset // BLOCK + place // BLOCK] = content[place : place + BLOCK]

    def _flush(self) -> None:
        for number, block in self._cache.items():
            os.pwrite(self._file, block, number * BLOCK)
        self._cache.clear()


def _take(stream: io.BufferedRWPair, length: int) -> bytes:
    found = stream.read(length)
    if len(found) < length:
        raise EOFError
    return found
