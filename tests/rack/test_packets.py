"""Frames through the fake switch: where entries say, and through ports that are up alone."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .conftest import CLI, Rack, changed

WIRE = Path(__file__).parent / "wire.py"
# A host behind each port, by the last byte of its address.
PORTS = {
    "9/0": {"dev_port": 28, "speed": "100G", "fec": "rs", "host": 1},
    "11/0": {"dev_port": 12, "speed": "25G", "fec": "none", "host": 2},
    "12/0": {"dev_port": 36, "speed": "25G", "fec": "none", "host": 3},
}


class Wire:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def _ask(self, **question: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def send(self, at: int, to: int, text: str) -> None:
        """From the host behind dev_port `at`, to the host with this number."""
        self._ask(send=f"far-{at}", frame=frame(to, text).hex())

    def until(self, at: int, text: str) -> list[str]:
        """What the frames say that come out at this dev_port, up to this one."""
        answer = self._ask(until=f"far-{at}", marker=text.encode().hex(), deadline_s=20)
        return [said(one) if one.isalnum() else one for one in answer]


@contextmanager
def wire(rack: Rack) -> Iterator[Wire]:
    ends = [f"far-{port['dev_port']}" for port in PORTS.values()]
    command = rack.inside(sys.executable, str(WIRE), *ends)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Wire(process)
        assert process.stdin
        process.stdin.close()


def frame(to: int, text: str) -> bytes:
    """A UDP datagram to port 9, which no program has an opinion about."""
    payload = text.encode().ljust(32, b".")
    udp = struct.pack("!4H", 9, 9, 8 + len(payload), 0) + payload
    addresses = bytes((198, 18, 7, 99, 198, 18, 7, to))
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + addresses
    words = sum(struct.unpack("!10H", ip))
    checksum = 0xFFFF - (words + words // 0x10000 & 0xFFFF)
    ip = ip[:10] + struct.pack("!H", checksum) + ip[12:]
    return bytes(5) + b"\x63" + bytes(5) + b"\x62" + b"\x08\x00" + ip + udp


def said(text: str) -> str:
    """Of a frame: who it is for, and its payload."""
    whole = bytes.fromhex(text)
    return f"{whole[5]}: {whole[42:74].rstrip(b'.').decode()}"


def wanted(**enabled: bool) -> list[dict[str, Any]]:
    return [
        {"name": name, "autoneg": "disabled", "enabled": enabled.get(f"p{port['dev_port']}", True)}
        | {key: port[key] for key in ("dev_port", "speed", "fec")}
        for name, port in PORTS.items()
    ]


def entries(**moved: int) -> dict[str, Any]:
    """Each host behind its port, as forward's `mac` its number; moved: hosts that are elsewhere."""
    return {
        "switch_program_entries": [
            {
                "table": "ipv4_lpm",
                "key": {"dst_addr": {"value": 0xC6120700 + port["host"], "prefix_len": 32}},
                "action": "forward",
                "data": {
                    "port": moved.get(f"h{port['host']}", port["dev_port"]),
                    "mac": port["host"],
                },
            }
            for port in PORTS.values()
        ]
    }


def test_frames_come_out_where_entries_say_while_the_port_is_up(rack: Rack) -> None:
    """What was dropped is not waited for: a frame behind it, which came out, was sent later."""
    rack.start()
    assert changed(rack.role("switch_ports", switch_ports_wanted=wanted(p12=False))) == 1
    assert changed(rack.role("switch_program", **entries())) == 1
    with wire(rack) as ends:
        ends.send(28, to=2, text="to a disabled port")
        ends.send(28, to=3, text="first")
        assert ends.until(36, "first") == ["3: first"]
        ends.send(12, to=3, text="from a disabled port")

        assert changed(rack.role("switch_ports", switch_ports_wanted=wanted())) == 1
        ends.send(28, to=2, text="second")
        assert ends.until(12, "second") == ["2: second"], "what came before is lost"
        ends.send(12, to=3, text="third")
        assert ends.until(36, "third") == ["3: third"], "what came before is lost"

        assert changed(rack.role("switch_program", **entries(h2=36))) == 1
        ends.send(28, to=2, text="moved")
        assert ends.until(36, "moved") == ["2: moved"]

        down = rack.role("switch_ports", switch_ports_wanted=wanted(p36=False), **CLI)
        assert changed(down) == 1, "the command line takes the same port down"
        ends.send(28, to=2, text="to a port that is down")
        ends.send(12, to=1, text="fourth")
        assert ends.until(28, "fourth") == ["1: fourth"]
        assert changed(rack.role("switch_ports", switch_ports_wanted=wanted())) == 1
        ends.send(28, to=2, text="fifth")
        assert ends.until(36, "fifth") == ["2: fifth"]


def test_no_frame_passes_a_port_that_is_enabled_and_not_up(rack: Rack) -> None:
    rack.start()
    assert changed(rack.role("switch_program", **entries())) == 1
    other_fec = [port | ({"fec": "rs"} if port["dev_port"] == 12 else {}) for port in wanted()]
    done = rack.role("switch_ports", switch_ports_wanted=other_fec, switch_ports_up_deadline_s=5)
    assert "not up within 5 s: 11/0: enabled, not up" in " ".join(done.stdout.split())
    with wire(rack) as ends:
        ends.send(28, to=2, text="to a port that is not up")
        ends.send(28, to=3, text="first")
        assert ends.until(36, "first") == ["3: first"]
        assert changed(rack.role("switch_ports", switch_ports_wanted=wanted())) == 1
        ends.send(28, to=2, text="second")
        assert ends.until(12, "second") == ["2: second"]
