"""Carries one connection between standard input and output and a port of the switch's loopback.
An sshd that forwards nothing lets it through, for it is a command.
"""

import os
import socket
import sys
import threading


def run(port):
    connection = socket.create_connection(("127.0.0.1", port))

    def take():
        while True:
            data = os.read(0, 65536)
            if not data:
                break
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)

    threading.Thread(target=take, daemon=True).start()
    while True:
        data = connection.recv(65536)
        if not data:
            break
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
