"""What goes between a check and the interpreter that holds a callable: a head of JSON and buffers, over a socket. Nothing that is read is ever
executed, since the callable's side is not trusted."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

_HEAD = struct.Struct("<Q")
_MOST_HEAD = 1 << 24
_MOST_BUFFER = 1 << 33


class Ended(Exception):
    """The other side is gone, or says what makes no sense."""


def send(channel: socket.socket, head: dict[str, Any], buffers: Sequence[Any] = ()) -> None:
    """Sends a frame."""
    views = [memoryview(buffer).cast("B") for buffer in buffers]
    text = json.dumps({**head, "sizes": [view.nbytes for view in views]}).encode()
    try:
        channel.sendall(_HEAD.pack(len(text)) + text)
        for view in views:
            channel.sendall(view)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Ended from error


def receive(channel: socket.socket, deadline: float | None = None) -> tuple[dict[str, Any], list[bytearray]]:
    """The next frame. `deadline`: of time.monotonic(). Raises TimeoutError, Ended."""
    (length,) = _HEAD.unpack(_exactly(channel, _HEAD.size, _MOST_HEAD, deadline))
    try:
        head = json.loads(_exactly(channel, length, _MOST_HEAD, deadline))
        sizes = [int(size) for size in head["sizes"]]
    except (ValueError, KeyError, TypeError) as error:
        raise Ended from error
    return head, [_exactly(channel, size, _MOST_BUFFER, deadline) for size in sizes]


def _exactly(channel: socket.socket, size: int, most: int, deadline: float | None) -> bytearray:
    if not 0 <= size <= most:
        raise Ended
    data = bytearray(size)
    view = memoryview(data)
    while view:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        channel.settimeout(left)
        try:
            got = channel.recv_into(view)
        except ConnectionResetError as error:
            raise Ended from error
        if got == 0:
            raise Ended
        view = view[got:]
    return data
