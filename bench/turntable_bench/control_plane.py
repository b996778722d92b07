"""bfrt-server beside softswitch's own control socket: the same entries and cells, the same switch.

Requests are made before the clock runs; what a Python client takes to send them is in both sides.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import grpc

from turntable_bfrt import messages
from turntable_bfrt.schema import Table, resolve, tables_of
from turntable_bfrt.values import encode, encode_key

from .comparison import OURS, YARDSTICK, Comparison, Outcome, Unit, alternate
from .namespaces import enter, ip, need_root
from .processes import Node, node_in, run_directory
from .settings import Settings

PROGRAM = "farreach"
TABLE, ACTION = "cache_lookup", "cached_at"
KEYS = ("keylolo", "keylohi", "keyhilo", "keyhihilo", "keyhihihi")
REGISTER, INDEX = "row_0.cells", "$REGISTER_INDEX"
MANY, FEW = 20_000, 1_000
DEADLINE_S = 60

ROWS = Comparison(
    f"bfrt-server: {MANY:,} entries, beside the control socket row by row",
    "socket, rows",
    "bfrt-server",
    Unit.ENTRIES_PER_S,
)
COLUMNS = Comparison(
    f"bfrt-server: {MANY:,} entries, beside the control socket in columns",
    "socket, columns",
    "bfrt-server",
    Unit.ENTRIES_PER_S,
)
SINGLE = Comparison("bfrt-server: single entries", "socket", "bfrt-server", Unit.ENTRIES_PER_S)
CELLS = Comparison(
    f"bfrt-server: {MANY:,} cells of a register from hardware",
    "socket, one range",
    "bfrt-server, by keys",
    Unit.CELLS_PER_S,
)
CELL = Comparison(
    "bfrt-server: single cells from hardware", "socket", "bfrt-server", Unit.CELLS_PER_S
)


def measure(settings: Settings) -> list[Outcome]:
    with switch_and_server(settings) as (switch, server):
        socket_side = ControlSocket(switch)
        grpc_side = Bfrt(server, settings)

        def compared(
            comparison: Comparison, yardstick: Callable[[], float], ours: Callable[[], float]
        ) -> Outcome:
            return alternate(comparison, settings.rounds, {YARDSTICK: yardstick, OURS: ours})

        with contextlib.closing(socket_side), contextlib.closing(grpc_side):
            return [
                compared(ROWS, socket_side.rows, grpc_side.batch),
                compared(COLUMNS, socket_side.columns, grpc_side.batch),
                compared(SINGLE, socket_side.single_entries, grpc_side.single_entries),
                compared(CELLS, socket_side.cells, grpc_side.cells),
                compared(CELL, socket_side.single_cells, grpc_side.single_cells),
            ]


@contextlib.contextmanager
def switch_and_server(settings: Settings) -> Iterator[tuple[Node, Node]]:
    """With one port, because the switch wants one; no packet is sent."""
    need_root()
    program = f"--program={settings.build}/lib/p4/{PROGRAM}.so"
    softswitch = settings.binary("softswitch")
    with (
        run_directory() as directory,
        _namespace() as name,
        node_in(directory, softswitch, enter(name), [program, "--port=1=s1"]) as switch,
        node_in(directory, settings.binary("bfrt-server"), [], ["--port=0"]) as server,
    ):
        yield switch, server


@contextlib.contextmanager
def _namespace() -> Iterator[str]:
    name = f"ttbench{os.getpid()}b"
    ip(f"netns add {name}")
    try:
        ip(f"-n {name} link add s1 type veth peer name t1")
        for end in ("s1", "t1"):
            ip(f"-n {name} link set {end} up")
        yield name
    finally:
        ip(f"netns delete {name}")


def rate(count: int, work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return count / (time.perf_counter() - begin)


def key_of(number: int) -> dict[str, int]:
    return dict.fromkeys(KEYS[1:], 7) | {KEYS[0]: number}


class ControlSocket:
    """softswitch's commands, each prepared as its line."""

    def __init__(self, switch: Node) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(DEADLINE_S)
        self._socket.connect(str(switch.directory / f"{switch.name}.sock"))
        self._answers = self._socket.makefile()

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def rows(self) -> float:
        rows = [self._insertion(number) for number in range(MANY)]
        return self._written([_line("table_write", updates=rows, on_error="continue")], MANY)

    def columns(self) -> float:
        key = {name: [7] * MANY for name in KEYS} | {KEYS[0]: list(range(MANY))}
        data = {"slot": list(range(MANY))}
        update = {"op": "insert_columns", "table": TABLE, "action": ACTION, "key": key}
        updates = [update | {"data": data}]
        return self._written([_line("table_write", updates=updates, on_error="continue")], MANY)

    def single_entries(self) -> float:
        lines = [_line("table_write", updates=[self._insertion(n)]) for n in range(FEW)]
        return self._written(lines, FEW)

    def cells(self) -> float:
        line = _line("register_read", table=REGISTER, first=0, count=MANY)
        return rate(MANY, lambda: self._ask([line]))

    def single_cells(self) -> float:
        lines = [_line("register_read", table=REGISTER, first=n, count=1) for n in range(FEW)]
        return rate(FEW, lambda: self._ask(lines))

    def _insertion(self, number: int) -> dict[str, Any]:
        update = {"op": "insert", "table": TABLE, "action": ACTION}
        return update | {"key": key_of(number), "data": {"slot": number}}

    def _written(self, lines: Sequence[bytes], entries: int) -> float:
        self._ask([_line("table_write", updates=[{"op": "clear", "table": TABLE}])])
        return rate(entries, lambda: self._ask(lines))

    def _ask(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            self._socket.sendall(line)
            answer = json.loads(self._answers.readline())
            if not answer["ok"] or answer["result"].get("errors"):
                raise RuntimeError(f"softswitch: {str(answer)[:500]}; expected no error")


def _line(command: str, **arguments: Any) -> bytes:
    return json.dumps({"id": 1, "command": command, "args": arguments}).encode() + b"\n"


class Bfrt:
    """Calls that name their program need no subscription."""

    def __init__(self, server: Node, settings: Settings) -> None:
        stats = _stats_with_a_switch(server)
        self._proto: SimpleNamespace = messages.load(
            settings.build / "lib" / "bfrt" / "bfruntime.desc"
        )
        address = f"{stats['address']}:{stats['port']}"
        unlimited = [("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0)]
        self._channel = grpc.insecure_channel(address, options=unlimited)
        self._calls = messages.Calls(self._channel, self._proto)
        config = self._calls.get_config(self._proto.GetForwardingPipelineConfigRequest())
        self._tables = tables_of(config.config[0].bfruntime_info)

    def close(self) -> None:
        self._channel.close()

    def batch(self) -> float:
        return self._written([self._insertions(range(MANY))], MANY)

    def single_entries(self) -> float:
        return self._written([self._insertions(range(n, n + 1)) for n in range(FEW)], FEW)

    def cells(self) -> float:
        return self._read([self._reads(range(MANY))], MANY)

    def single_cells(self) -> float:
        return self._read([self._reads(range(n, n + 1)) for n in range(FEW)], FEW)

    def _table(self, name: str) -> Table:
        return self._tables[resolve(self._tables, name, "table")]

    def _request(self, kind: Any) -> Any:
        request = kind(p4_name=PROGRAM)
        request.target.pipe_id = 0xFFFF
        return request

    def _insertions(self, numbers: range) -> Any:
        table = self._table(TABLE)
        action = table.action(ACTION)
        request = self._request(self._proto.WriteRequest)
        for number in numbers:
            entry = request.updates.add(type="INSERT").entity.table_entry
            entry.table_id = table.id
            _put_key(table, key_of(number), entry)
            entry.data.action_id = action.id
            encode(action.data["slot"], number, entry.data.fields.add())
        return request

    def _reads(self, indexes: range) -> Any:
        table = self._table(REGISTER)
        request = self._request(self._proto.ReadRequest)
        for index in indexes:
            entry = request.entities.add().table_entry
            entry.table_id = table.id
            entry.table_flags.from_hw = True
            _put_key(table, {INDEX: index}, entry)
        return request

    def _written(self, requests: Sequence[Any], entries: int) -> float:
        clear = self._request(self._proto.WriteRequest)
        clear.updates.add(type="DELETE").entity.table_entry.table_id = self._table(TABLE).id
        self._calls.write(clear, timeout=DEADLINE_S)

        def write() -> None:
            for request in requests:
                self._calls.write(request, timeout=DEADLINE_S)  # raises where an update fails

        return rate(entries, write)

    def _read(self, requests: Sequence[Any], cells: int) -> float:
        answered = 0

        def read() -> None:
            nonlocal answered
            for request in requests:
                for response in self._calls.read(request, timeout=DEADLINE_S):
                    answered += len(response.entities)

        measured = rate(cells, read)
        if answered != cells:
            raise RuntimeError(f"bfrt-server: {answered} cells; expected {cells}")
        return measured


def _put_key(table: Table, values: Mapping[str, int], entry: Any) -> None:
    for name, value in values.items():
        encode_key(table.keys[name], value, entry.key.fields.add())


def _stats_with_a_switch(server: Node) -> Any:
    """As soon as the server has found the switch."""
    end = time.monotonic() + DEADLINE_S
    while True:
        stats = server.call("stats")
        if stats["program"] is not None:
            return stats
        if time.monotonic() > end:
            raise RuntimeError(f"bfrt-server has not found softswitch within {DEADLINE_S} s")
