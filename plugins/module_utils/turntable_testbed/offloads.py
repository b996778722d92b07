"""Segmentation and checksum offloads of a device, through SIOCETHTOOL (linux/ethtool.h).

A veth hands packets over with the checksum still to be filled in and segments joined. A switch that
takes them through AF_PACKET would forward them like that, and receivers would drop them: both must
be off. Links to a bridge could keep theirs; one rule for all data links is simpler to rely on.
"""

from __future__ import annotations

import array
import fcntl
import socket
import struct
from pathlib import Path

from .namespaces import call_inside

_SIOCETHTOOL = 0x8946

# name: (get command, set command)
FEATURES = {
    "tx-checksum": (0x16, 0x17),
    "tso": (0x1E, 0x1F),
    "gso": (0x23, 0x24),
    "gro": (0x2B, 0x2C),
}


def any_on(namespace: Path, device: str) -> bool:
    """Whether one of FEATURES is on."""
    with _socket(namespace) as handle:
        return any(_ethtool(handle, device, get, 0) for get, _ in FEATURES.values())


def turn_off(namespace: Path, device: str) -> None:
    """Turns all of FEATURES off."""
    with _socket(namespace) as handle:
        for _, set_command in FEATURES.values():
            _ethtool(handle, device, set_command, 0)


def _socket(namespace: Path) -> socket.socket:
    """A socket for ioctls on the devices of `namespace`."""
    return call_inside(namespace, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))


def _ethtool(handle: socket.socket, device: str, command: int, value: int) -> int:
    """One request with struct ethtool_value {u32 cmd; u32 data}; returns its data."""
    request = array.array("B", struct.pack("II", command, value))
    ifreq = struct.pack("16sP", device.encode(), request.buffer_info()[0])
    fcntl.ioctl(handle.fileno(), _SIOCETHTOOL, ifreq.ljust(40, b"\0"))
    return struct.unpack("II", request.tobytes())[1]
