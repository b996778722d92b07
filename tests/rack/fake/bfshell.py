"""bfshell: a plain connection to the CLI. Ends with 0, whatever happened."""

from __future__ import annotations

import os
import selectors
import socket
import sys
from pathlib import Path


def main(argv: list[str]) -> int:
    words, file, address, port = argv[1:], None, "127.0.0.1", 9999
    while words:
        word = words.pop(0)
        if word == "-f":
            file = Path(words.pop(0))
        elif word == "-a":
            address = words.pop(0)
        elif word == "-p":
            port = int(words.pop(0))
    try:
        connection = socket.create_connection((address, port), timeout=5)
    except OSError as error:
        print(f"Error: could not connect to {address}:{port}: {error}", file=sys.stderr)
        return 0
    connection.settimeout(None)
    if file is not None:
        connection.sendall(file.read_bytes())
    _talk(connection)
    return 0


def _talk(connection: socket.socket) -> None:
    """Until either end closes. What has not come from the CLI when stdin ends is lost."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        try:
            selector.register(0, selectors.EVENT_READ)
        except PermissionError:  # a file or /dev/null: at its end at once
            return
        while True:
            for key, _ in selector.select():
                data = connection.recv(4096) if key.fileobj is connection else os.read(0, 4096)
                if not data:
                    return
                if key.fileobj is not connection:
                    connection.sendall(data)
                    continue
                os.write(1, data)
