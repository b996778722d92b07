"""The switch's ports: `NUMBER=INTERFACE`, and whether there are such interfaces."""

from __future__ import annotations

import fcntl
import socket
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from p4soft.run.errors import RunError

_SIOCGIFFLAGS = 0x8913
_IFF_UP = 0x1
_SO_RCVBUFFORCE = 33
_NAME_BYTES = 16
# Of Tofino 1: 9 bits, two for the pipe; four of each pipe lead back to its ingress.
_PORTS, _PORTS_OF_A_PIPE = 512, 128
_RECIRCULATION = range(68, 72)


@dataclass(frozen=True)
class PortArgument:
    number: int
    interface: str

    def __str__(self) -> str:
        return f"{self.number}={self.interface}"


_EXAMPLES = {"--port": "1=veth1", "--cpu-port": "64=veth1"}


def with_values(words: list[str]) -> list[str]:
    """`--port -1=veth1` in one word: argparse takes the second for an option."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] in _EXAMPLES and not word.startswith("--"):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def parse(option: str, texts: Iterable[str]) -> list[PortArgument]:
    """Of `--port` or `--cpu-port`. Raises RunError for what is not NUMBER=INTERFACE, or no
    number of a port with a cable.
    """
    return [_parse(option, text) for text in texts]


def _parse(option: str, text: str) -> PortArgument:
    number, equals, interface = text.partition("=")
    if not (number.isascii() and number.isdigit() and equals and interface):
        example = f"{option} {_EXAMPLES[option]}"
        message = f"{option} {text}: expected NUMBER=INTERFACE, for instance {example}"
        raise RunError(message, status=2)
    port = PortArgument(int(number), interface)
    if port.number >= _PORTS or port.number % _PORTS_OF_A_PIPE in _RECIRCULATION:
        raise RunError(
            f"{option} {text}: expected a number from 0 to {_PORTS - 1} but "
            f"{_RECIRCULATION[0]} to {_RECIRCULATION[-1]} of each {_PORTS_OF_A_PIPE}, which "
            "recirculate; take another one",
            status=2,
        )
    return port


def check_unique(ports: Iterable[PortArgument]) -> None:
    """Raises RunError for a number or an interface that is there twice."""
    numbers: dict[int, PortArgument] = {}
    interfaces: dict[str, PortArgument] = {}
    for port in ports:
        other = numbers.get(port.number) or interfaces.get(port.interface)
        if other is not None:
            message = f"port {port}: {other} is a port already; expected each number and each "
            raise RunError(message + "interface once: take another one", status=2)
        numbers[port.number] = interfaces[port.interface] = port


def check_pipes(ports: Iterable[PortArgument], pipes: int) -> None:
    """Raises RunError for a port of a pipe that is not there; one pipe has all ports."""
    below = _PORTS if pipes == 1 else pipes * _PORTS_OF_A_PIPE
    for port in ports:
        if port.number >= below:
            raise RunError(
                f"port {port}: of pipe {port.number // _PORTS_OF_A_PIPE}, and --pipes {pipes} has "
                f"those from 0 to {pipes - 1}; expected a number below {below}, or more pipes",
                status=2,
            )


def check_cpu_interface(
    interface: str, front: Sequence[PortArgument], cpu: Sequence[PortArgument]
) -> None:
    """Raises RunError for one that is not the other end of a port of the control plane."""
    who = f"--cpu-interface {interface}"
    if not cpu:
        raise RunError(f"{who}: it is the other end of --cpu-port 64=INTERFACE; add that", status=2)
    for port in (*front, *cpu):
        if port.interface == interface:
            raise RunError(f"{who}: this is port {port}; expected the other end of it", status=2)
    _check_interface(who, interface, peer=cpu[0].interface)


def check_interfaces(ports: Iterable[PortArgument]) -> None:
    """Raises RunError for an interface that this network namespace does not have."""
    for port in ports:
        _check_interface(f"port {port}", port.interface, peer=f"{port.interface}-peer")


def _check_interface(who: str, interface: str, peer: str) -> None:
    names = sorted(name for _, name in socket.if_nameindex())
    if interface not in names:
        raise RunError(
            f"{who}: there is no interface {interface} in this network namespace; "
            f"there are {', '.join(names)}. Make a pair with: "
            f"ip link add {interface} type veth peer name {peer}"
        )


def check_permission() -> None:
    """Raises RunError where the kernel gives this user no packet socket, or none of its size."""
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as port:
            port.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 20)
    except PermissionError:
        raise RunError(
            "this user may not open packet sockets with buffers of their size; expected root, or "
            "the capabilities CAP_NET_RAW and CAP_NET_ADMIN: run it with sudo"
        ) from None


def is_up(interface: str) -> bool:
    """Whether frames can pass it. Raises OSError if it has gone."""
    request = struct.pack(f"{_NAME_BYTES}sH14x", interface.encode(), 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request)
    (flags,) = struct.unpack_from("H", answer, _NAME_BYTES)
    return bool(flags & _IFF_UP)
