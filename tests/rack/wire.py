"""Sends and catches frames at the far ends of a fake switch's cables, in its network.

    python tests/rack/wire.py far-28 far-12

Lines of JSON at standard input: {"send": "far-28", "frame": HEX} answers null;
{"until": "far-12", "marker": HEX, "deadline_s": 10} answers the IPv4 frames that have come out
there since the last answer, up to the one with the marker.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from typing import Any

ETH_P_IP = 0x0800
OUTGOING = 4  # of this end's own frames


def caught(end: socket.socket, marker: bytes, deadline_s: float) -> list[str]:
    frames, until = [], time.monotonic() + deadline_s
    while True:
        end.settimeout(max(0.001, until - time.monotonic()))
        try:
            frame, (_, _, kind, *_) = end.recvfrom(65536)
        except TimeoutError:
            return [*frames, "nothing more came"]
        if kind == OUTGOING:
            continue
        frames.append(frame.hex())
        if marker in frame:
            return frames


def main() -> None:
    ends = {}
    for name in sys.argv[1:]:
        ends[name] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
        ends[name].bind((name, ETH_P_IP))
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        answer: Any = None
        if "send" in asked:
            ends[asked["send"]].send(bytes.fromhex(asked["frame"]))
        else:
            marker = bytes.fromhex(asked["marker"])
            answer = caught(ends[asked["until"]], marker, asked["deadline_s"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
