"""A program as p4soft translates it: compiled, and run in memory by p4run."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from packet.compilation import compile_program
from packet.targets import CommandFailedError, Frame, MemoryTarget

from p4soft.errors import P4Error

from . import tree
from .print_program import full_name
from .switch_model import MIRROR_PORT, ModelSwitch

_LONGEST_MESSAGE = 2000
LIMIT_S = 300.0  # for all frames of a program, which take milliseconds
_SECOND = 10**9  # between frames, in ns: what a meter gains is whole packets and bytes


@dataclass(frozen=True)
class Difference:
    """kind: `refused` by p4soft, `translator` or `compiler` failed, `runner` ended or hung,
    `control` command refused, `frames`, `cells` or `digests` differ.
    """

    kind: str
    text: str


def difference(
    program: tree.Program,
    source: str,
    frames: Sequence[Frame],
    directory: Path,
    build_dir: Path,
) -> Difference | None:
    """Between p4soft and the interpreter; None if they agree.

    directory: where precompile_runtime was; what is made there is overwritten.
    """
    path = directory / "program.p4"
    path.write_text(source)
    with tempfile.TemporaryFile("w+") as messages:
        try:
            library = compile_program(path, [], directory, build_dir, messages=messages)
        except Exception as error:  # whatever it is, the translator is at fault
            return no_library(error, messages)
    target = MemoryTarget(build_dir / "bin" / "p4run", library)
    overdue = threading.Timer(LIMIT_S, target.kill)
    overdue.start()
    try:
        return _compared(program, frames, target)
    except CommandFailedError as error:
        return Difference("control", str(error))
    except (RuntimeError, BrokenPipeError) as error:
        late = "" if overdue.is_alive() else f", as it was not done within {LIMIT_S:g} s"
        return Difference("runner", f"{error}{late}")
    finally:
        overdue.cancel()
        with suppress(AssertionError, BrokenPipeError):  # it has been told as `runner`
            target.close()


def no_library(error: Exception, messages: IO[str]) -> Difference:
    """What compile_program has raised. messages: the compiler's."""
    match error:
        case P4Error():
            return Difference("refused", re.sub(r"^/\S*/", "", str(error)))
        case subprocess.CalledProcessError():
            messages.seek(0)
            return Difference("compiler", messages.read()[:_LONGEST_MESSAGE])
    return Difference("translator", f"{type(error).__name__}: {error}")


def _compared(
    program: tree.Program, frames: Sequence[Frame], target: MemoryTarget
) -> Difference | None:
    tables = _tables_there(target)
    updates = [each for each in updates_for(program) if _is_there(each["table"], tables)]
    if updates:
        target.command("table_write", updates=updates)
    for block in program.blocks():
        for meter in block.meters:
            for index, limits in enumerate(meter.limits):
                data = None if limits is None else _limits(meter.unit, limits)
                target.command("meter_write", table=meter.name, index=index, data=data)
        for each in block.filters:
            for index, cell in enumerate(each.cells):
                target.command("filter_write", table=each.name, index=index, data=_filter(cell))
    model = ModelSwitch(program)
    for number, (port, frame) in enumerate(frames):
        expected = model.send(port, frame, number)
        got = target.send(port, frame, now_ns=number * _SECOND)
        if sorted(got) != sorted(expected):
            text = f"frame {number}, port {port}, {frame.hex()}\n"
            return Difference("frames", f"{text}expected {_text(expected)}\ngot      {_text(got)}")
    return (
        _compared_cells(model, target)
        or _compared_direct(model, target)
        or _compared_digests(model, target)
    )


def _tables_there(target: MemoryTarget) -> list[str]:
    return [table["name"] for table in target.command("schema")["tables"]]


def _is_there(name: str, tables: list[str]) -> bool:
    """Tables that are never applied, and their profiles, are no part of a program."""
    return "$" in name or any(table.endswith(f".{name}") for table in tables)


def _text(frames: list[Frame]) -> str:
    return ", ".join(f"port {port} {frame.hex()}" for port, frame in frames) or "nothing"


def _compared_cells(model: ModelSwitch, target: MemoryTarget) -> Difference | None:
    for name, expected in model.state.registers.items():
        got = target.command("register_read", table=name)["values"]
        if got != expected:
            return Difference("cells", f"register {name}\nexpected {expected}\ngot      {got}")
    for name, packets in model.state.packets.items():
        counts = target.command("counter_read", table=name)["counters"]
        expected = list(zip(packets, model.state.bytes[name], strict=True))
        got = [_counts(each) for each in counts]
        if got != expected:
            return Difference(
                "cells", f"counter {name} (packets, bytes)\nexpected {expected}\ngot      {got}"
            )
    return None


def _compared_direct(model: ModelSwitch, target: MemoryTarget) -> Difference | None:
    tables = _tables_there(target)
    for table in tables_of(model.program):
        if not _is_there(table.name, tables):
            continue
        pairs = [("counter", *_direct_counts(table, model, target))]
        pairs.append(("register", *_direct_cells(table, model, target)))
        for kind, expected, got in pairs:
            if got != expected:
                text = f"direct {kind} of {table.name}\nexpected {expected}\ngot      {got}"
                return Difference("cells", text)
    return None


def _direct_counts(
    table: tree.Table, model: ModelSwitch, target: MemoryTarget
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """As expected and as they are, without those of zero."""
    if table.counter is None:
        return [], []
    read = target.command("counter_read", table=table.name)
    cells = [_counts(each) for each in [*read.get("counters", []), read["default"]]]
    expected = model.state.direct.get(table.counter.name, {}).values()
    return sorted(expected), sorted(cell for cell in cells if cell != (0, 0))


def _direct_cells(
    table: tree.Table, model: ModelSwitch, target: MemoryTarget
) -> tuple[list[int], list[int]]:
    """As expected and as they are."""
    if table.register_action is None:
        return [], []
    register = table.register_action.register
    cells = model.state.cells.get(register.name, {})
    numbers = range(-1, len(table.entries))
    read = target.command("table_read", table=table.name)
    data = [each["data"] for each in [*read["entries"], read["default"]]]
    got = [value for each in data for name, value in each.items() if name.endswith(".f1")]
    return sorted(cells.get(number, register.initial) for number in numbers), sorted(got)


def _compared_digests(model: ModelSwitch, target: MemoryTarget) -> Difference | None:
    if all(block.digest is None for block in model.program.blocks()):
        return None
    got = [each["fields"] for each in target.command("digest_read")["digests"]]
    if got == model.digests:
        return None
    return Difference("digests", f"expected {model.digests}\ngot      {got}")


def _counts(cell: dict[str, int]) -> tuple[int, int]:
    return cell["$COUNTER_SPEC_PKTS"], cell["$COUNTER_SPEC_BYTES"]


# --- The control plane ------------------------------------------------------------------------


def tables_of(program: tree.Program) -> list[tree.Table]:
    controls = [control for block in program.blocks() for control in (*block.nested, block.control)]
    return [each for control in controls for each in control.locals if isinstance(each, tree.Table)]


def updates_for(program: tree.Program) -> list[dict[str, Any]]:
    """What the control plane writes before the first frame."""
    updates: list[dict[str, Any]] = []
    sessions = set()
    for table in tables_of(program):
        if not table.is_constant:
            if table.profile:
                updates += [_member(table, number) for number in range(len(table.entries))]
            if table.selector is not None:
                groups = enumerate(table.selector.groups)
                updates += [_members(table.selector.name, *each) for each in groups]
            updates += [_insert(table, each) for each in table.entries]
    for block in program.blocks():
        updates += [_value(each, value) for each in block.value_sets for value in each.members]
        if block.mirror is not None:
            sessions.add(block.mirror.session)
        if block.port_metadata is not None:
            updates += _port_metadata(f"{full_name(block)}Parser", block.port_metadata)
    updates += [_session(number) for number in sorted(sessions)]
    for number, nodes in program.groups.items():
        first = 10 * number
        updates += [_node(first + index, node) for index, node in enumerate(nodes)]
        updates.append(_group(number, [*range(first, first + len(nodes))]))
    return updates


def _value(value_set: tree.ValueSet, member: tree.Match) -> dict[str, Any]:
    key = {"f1": {"value": _number(member.first), "mask": _number(member.second)}}
    return {"op": "insert", "table": value_set.name, "key": key}


def _port_metadata(parser: str, metadata: tree.PortMetadata) -> list[dict[str, Any]]:
    names = [each.name for each in metadata.fields]
    return [
        {
            "op": "insert", "table": f"{parser}.$PORT_METADATA",
            "key": {"ig_intr_md.ingress_port": port},
            "data": {name: _number(value) for name, value in zip(names, values, strict=True)},
        }
        for port, values in metadata.by_port.items()
    ]  # fmt: skip


def _node(number: int, node: tree.Node) -> dict[str, Any]:
    return {
        "op": "insert", "table": "$pre.node", "key": {"$MULTICAST_NODE_ID": number},
        "data": {"$MULTICAST_RID": node.rid, "$DEV_PORT": node.ports},
    }  # fmt: skip


def _group(number: int, nodes: list[int]) -> dict[str, Any]:
    data = {
        "$MULTICAST_NODE_ID": nodes, "$MULTICAST_NODE_L1_XID_VALID": [False] * len(nodes),
        "$MULTICAST_NODE_L1_XID": [0] * len(nodes),
    }  # fmt: skip
    return {"op": "insert", "table": "$pre.mgid", "key": {"$MGID": number}, "data": data}


def _session(number: int) -> dict[str, Any]:
    """Of mirror copies, whole, to MIRROR_PORT."""
    data = {
        "$session_enable": True, "$ucast_egress_port_valid": True,
        "$ucast_egress_port": MIRROR_PORT,
    }  # fmt: skip
    return {"op": "insert", "table": "$mirror.cfg", "key": {"$sid": number}, "data": data}


def _limits(unit: str, limits: tree.Limits) -> dict[str, int]:
    rate, burst = ("PPS", "PKTS") if unit == "PACKETS" else ("KBPS", "KBITS")
    return {
        f"$METER_SPEC_CIR_{rate}": limits.committed_rate,
        f"$METER_SPEC_PIR_{rate}": limits.peak_rate,
        f"$METER_SPEC_CBS_{burst}": limits.committed_burst,
        f"$METER_SPEC_PBS_{burst}": limits.peak_burst,
    }


def _filter(cell: tree.Average | tree.Thresholds) -> dict[str, Any]:
    if isinstance(cell, tree.Average):
        return {
            "$LPF_SPEC_TYPE": cell.kind,
            "$LPF_SPEC_GAIN_TIME_CONSTANT_NS": cell.gain_s * _SECOND,
            "$LPF_SPEC_DECAY_TIME_CONSTANT_NS": cell.decay_s * _SECOND,
            "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR": cell.scale_down,
        }
    return {
        "$WRED_SPEC_TIME_CONSTANT_NS": cell.time_s * _SECOND,
        "$WRED_SPEC_MIN_THRESH_CELLS": cell.low,
        "$WRED_SPEC_MAX_THRESH_CELLS": cell.high,
        "$WRED_SPEC_MAX_PROBABILITY": 0.0,
    }


def _member(table: tree.Table, number: int) -> dict[str, Any]:
    """With the action of the table's entry of that number."""
    key = {"$ACTION_MEMBER_ID": number}
    action = _action(table, table.entries[number])
    return {"op": "insert", "table": table.profile, "key": key} | action


def _members(selector: str, number: int, group: tree.Group) -> dict[str, Any]:
    data = {
        "$ACTION_MEMBER_ID": group.members, "$ACTION_MEMBER_STATUS": group.active,
        "$ACTION_MEMBER_WEIGHT": group.weights, "$MAX_GROUP_SIZE": 16,
    }  # fmt: skip
    return {
        "op": "insert", "table": selector, "key": {"$SELECTOR_GROUP_ID": number}, "data": data,
    }  # fmt: skip


def _action(table: tree.Table, entry: tree.Entry) -> dict[str, Any]:
    parameters = table.reference(entry.action).action.data()
    data = {p.name: _number(value) for p, value in zip(parameters, entry.data, strict=True)}
    return {"action": entry.action, "data": data}


def _insert(table: tree.Table, entry: tree.Entry) -> dict[str, Any]:
    """With a profile the entry names a member or a group."""
    keys = {
        key.name: _match(key, match) for key, match in zip(table.keys, entry.matches, strict=True)
    }
    update = {"op": "insert", "table": table.name, "key": keys}
    if table.has_priorities():
        update["priority"] = entry.priority
    if table.profile and entry.group is not None:
        return update | {"data": {"$SELECTOR_GROUP_ID": entry.group}}
    if table.profile:
        return update | {"data": {"$ACTION_MEMBER_ID": table.entries.index(entry)}}
    update |= _action(table, entry)
    if table.meter is not None and entry.limits is not None:
        update["data"] |= _limits(table.meter.unit, entry.limits)
    return update


def _match(key: tree.Key, match: tree.Match) -> Any:
    first, second = _number(match.first), _number(match.second)
    if key.kind == "lpm":
        return {"value": first, "prefix_len": match.second}
    if key.kind == "ternary":
        return {"value": first, "mask": second}
    return {"low": first, "high": second} if key.kind == "range" else first


def _number(value: int) -> int | str:
    """JSON's integers end at 64 bits."""
    return value if value >> 63 == 0 else hex(value)
