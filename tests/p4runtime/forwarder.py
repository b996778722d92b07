"""A way for clients into the loopback of a network namespace, where a server is that has the other
end of its switch's CPU port.
"""

from __future__ import annotations

import socket
import threading
from typing import Any

from packet.live_switch import in_namespace

_PIECE = 65536


class Forwarder:
    """Connections to `address` end at a port of a namespace's loopback."""

    def __init__(self, namespace: str, port: int) -> None:
        self._namespace = namespace
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                outside, _ = self._listener.accept()
            except OSError:  # closed
                return
            inside = in_namespace(
                self._namespace, lambda: socket.create_connection(("127.0.0.1", self._port))
            )
            self._sockets += [outside, inside]
            for source, target in ((outside, inside), (inside, outside)):
                threading.Thread(target=_copy, args=(source, target), daemon=True).start()

    def close(self) -> None:
        self._listener.close()
        for each in self._sockets:
            each.close()


def _copy(source: Any, target: Any) -> None:
    try:
        while piece := source.recv(_PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:  # the other direction has ended both
        return
