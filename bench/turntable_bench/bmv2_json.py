"""trivial.p4 and large.p4 as BMv2's simple_switch reads them: JSON, with their entries in it.

The same headers, tables, registers and hashes for v1model. It is what p4c would write, less its
temporary fields and its masks after additions (a field keeps its width by itself), so BMv2 has
rather less to do. Format: docs/JSON_format.md of BMv2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .program_loads import FLOWS, Update

Json = dict[str, Any]
FieldName = tuple[str, str]

STANDARD_METADATA = {
    "ingress_port": 9, "egress_spec": 9, "egress_port": 9, "instance_type": 32,
    "packet_length": 32, "enq_timestamp": 32, "enq_qdepth": 19, "deq_timedelta": 32,
    "deq_qdepth": 19, "ingress_global_timestamp": 48, "egress_global_timestamp": 48,
    "mcast_grp": 16, "egress_rid": 16, "checksum_error": 1, "parser_error": 32, "priority": 3,
    "_padding": 3,
}  # fmt: skip
# What the traffic manager fills in under names of its own.
ALIASES = {
    "queueing_metadata": ("enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth"),
    "intrinsic_metadata": (
        "ingress_global_timestamp",
        "egress_global_timestamp",
        "mcast_grp",
        "egress_rid",
        "priority",
    ),
}
ETHERNET = {"dst_addr": 48, "src_addr": 48, "ether_type": 16}
IPV4 = {
    "version": 4, "ihl": 4, "diffserv": 8, "total_len": 16, "identification": 16, "flags": 3,
    "frag_offset": 13, "ttl": 8, "protocol": 8, "hdr_checksum": 16, "src_addr": 32,
    "dst_addr": 32,
}  # fmt: skip
UDP = {"src_port": 16, "dst_port": 16, "len": 16, "checksum": 16}
METADATA = {"pair": 10, "group": 10, "mark": 10, "row": 16, "old": 32, "now": 32, "port": 10}
WIDTHS = {
    "md": METADATA,
    "standard_metadata": STANDARD_METADATA,
    "ethernet": ETHERNET,
    "ipv4": IPV4,
    "udp": UDP,
}

TOTAL_LEN = ("ipv4", "total_len")
HASHED = [("ipv4", "src_addr"), ("ipv4", "dst_addr"), ("udp", "src_port"), ("udp", "dst_port")]


def field(name: FieldName) -> Json:
    return {"type": "field", "value": list(name)}


def number(value: int, bits: int = 32) -> Json:
    return {"type": "hexstr", "value": hexadecimal(value, bits)}


def hexadecimal(value: int, bits: int) -> str:
    """In as many digits as the bytes of a field of that width have."""
    return f"0x{value:0{2 * ((bits + 7) // 8)}x}"


def operation(op: str, left: Json | None, right: Json, **more: Json) -> Json:
    return {"type": "expression", "value": {"op": op, "left": left, "right": right, **more}}


def assign(target: FieldName, value: Json) -> Json:
    # As the right side of a statement, an expression stands inside another one.
    nested = {"type": "expression", "value": value} if value["type"] == "expression" else value
    return {"op": "assign", "parameters": [field(target), nested]}


class Program:
    """Collects the objects of one program and numbers them."""

    def __init__(self, headers: Sequence[str], updates: Sequence[Update]) -> None:
        self._headers = headers
        self._updates = updates
        self._actions: list[Json] = []
        self._registers: list[Json] = []
        self._calculations: list[Json] = []
        self._tables: dict[str, list[Json]] = {"ingress": [], "egress": []}

    def action(
        self, name: str, primitives: Sequence[Json], data: Mapping[str, int] | None = None
    ) -> str:
        runtime = [{"name": n, "bitwidth": bits} for n, bits in (data or {}).items()]
        self._actions.append(
            {"name": name, "id": len(self._actions), "runtime_data": runtime,
             "primitives": list(primitives)}
        )  # fmt: skip
        return name

    def setter(self, name: str, argument: str, target: FieldName) -> str:
        """An action that stores its one argument."""
        store = assign(target, {"type": "runtime_data", "value": 0})
        return self.action(name, [store], {argument: WIDTHS[target[0]][target[1]]})

    def register(
        self, name: str, bits: int, index: FieldName, value: Json, size: int
    ) -> list[Json]:
        """Primitives that read a cell into md.old and write `value` back."""
        self._registers.append(
            {"name": name, "id": len(self._registers), "size": size, "bitwidth": bits}
        )
        array = {"type": "register_array", "value": name}
        read = [field(("md", "old")), array, field(index)]
        written = {"type": "expression", "value": value} if value["type"] == "expression" else value
        return [
            {"op": "register_read", "parameters": read},
            {"op": "register_write", "parameters": [array, field(index), written]},
        ]

    def hash(self, name: str, algorithm: str, salt: int, size: int) -> Json:
        """A primitive that stores the hash of the flow in md.row."""
        salted = [{**number(salt), "bitwidth": 32}, *map(field, HASHED)]
        self._calculations.append(
            {"name": name, "id": len(self._calculations), "algo": algorithm, "input": salted}
        )
        calculation = {"type": "calculation", "value": name}
        parameters = [field(("md", "row")), number(0), calculation, number(size)]
        return {"op": "modify_field_with_hash_based_offset", "parameters": parameters}

    def table(
        self,
        pipeline: str,
        name: str,
        keys: Mapping[str, tuple[FieldName, str]],
        actions: Sequence[str],
    ) -> None:
        """The next table of a pipeline; its last action is the default one."""
        kinds = {kind for _, kind in keys.values()}
        strongest = next((k for k in ("range", "ternary", "lpm") if k in kinds), "exact")
        ids = {action["name"]: action["id"] for action in self._actions}
        default = {"action_id": ids[actions[-1]], "action_const": False, "action_data": [],
                   "action_entry_const": False}  # fmt: skip
        self._tables[pipeline].append({
            "name": name, "match_type": strongest, "type": "simple", "max_size": 1024,
            "key": [{"match_type": kind, "name": key, "target": list(target), "mask": None}
                    for key, (target, kind) in keys.items()],
            "with_counters": False, "support_timeout": False, "direct_meters": None,
            "action_ids": [ids[action] for action in actions], "actions": list(actions),
            "default_entry": default,
            "entries": [self._entry(update, keys, ids) for update in self._updates
                        if update.table == name],
        })  # fmt: skip

    def _entry(
        self, update: Update, keys: Mapping[str, tuple[FieldName, str]], ids: Mapping[str, int]
    ) -> Json:
        action = self._actions[ids[update.action]]
        data = [
            hexadecimal(update.data[argument["name"]], argument["bitwidth"])
            for argument in action["runtime_data"]
        ]
        return {
            "match_key": [_match(kind, update.key[key], WIDTHS[target[0]][target[1]])
                          for key, (target, kind) in keys.items()],
            "action_entry": {"action_id": action["id"], "action_data": data},
            "priority": update.priority or 1,
        }  # fmt: skip

    def as_json(self) -> Json:
        headers = {name: WIDTHS[name] for name in ("md", "standard_metadata", *self._headers)}
        return {
            "header_types": [
                {"name": f"{name}_t", "id": i, "fields": [[f, bits, False] for f, bits in fields]}
                for i, (name, fields) in enumerate((n, _whole_bytes(f)) for n, f in headers.items())
            ],
            "headers": [
                {"name": name, "id": i, "header_type": f"{name}_t", "pi_omit": True,
                 "metadata": name in ("md", "standard_metadata")}
                for i, name in enumerate(headers)
            ],
            "parsers": [_parser(self._headers)],
            "deparsers": [{"name": "deparser", "id": 0, "order": list(self._headers)}],
            "register_arrays": self._registers,
            "calculations": self._calculations,
            "actions": self._actions,
            "pipelines": [
                self._pipeline(i, name, tables)
                for i, (name, tables) in enumerate(self._tables.items())
            ],
            "errors": [["NoError", 0], ["PacketTooShort", 1], ["NoMatch", 2]],
            "field_aliases": [
                [f"{group}.{name}", ["standard_metadata", name]]
                for group, names in ALIASES.items() for name in names
            ],
            "__meta__": {"version": [2, 23], "compiler": "turntable_bench"},
            **{empty: [] for empty in (
                "header_stacks", "header_union_types", "header_unions", "header_union_stacks",
                "field_lists", "enums", "parse_vsets", "meter_arrays", "counter_arrays",
                "learn_lists", "checksums", "force_arith", "extern_instances")},
        }  # fmt: skip

    @staticmethod
    def _pipeline(number: int, name: str, tables: Sequence[Json]) -> Json:
        following = [*(table["name"] for table in tables[1:]), *([None] if tables else [])]
        linked = [
            {**table, "id": 1000 * number + i, "base_default_next": after,
             "next_tables": dict.fromkeys(table["actions"], after)}
            for i, (table, after) in enumerate(zip(tables, following, strict=True))
        ]  # fmt: skip
        first = linked[0]["name"] if linked else None
        return {"name": name, "id": number, "init_table": first, "tables": linked,
                "action_profiles": [], "conditionals": []}  # fmt: skip


def _whole_bytes(fields: Mapping[str, int]) -> list[tuple[str, int]]:
    padding = -sum(fields.values()) % 8
    return [*fields.items(), *([("_pad", padding)] if padding else [])]


def _match(kind: str, value: Any, bits: int) -> Json:
    if kind == "exact":
        return {"match_type": kind, "key": hexadecimal(value, bits)}
    if kind == "lpm":
        prefix = hexadecimal(value["value"], bits)
        return {"match_type": kind, "key": prefix, "prefix_length": value["prefix_len"]}
    names = {"ternary": {"key": "value", "mask": "mask"}, "range": {"start": "low", "end": "high"}}
    parts = {part: hexadecimal(value[name], bits) for part, name in names[kind].items()}
    return {"match_type": kind, **parts}


def _parser(headers: Sequence[str]) -> Json:
    """One state per header; the next one follows if the header says so."""
    selects = {"ethernet": (("ethernet", "ether_type"), 0x0800), "ipv4": (("ipv4", "protocol"), 17)}
    states = []
    for i, name in enumerate(headers):
        extract = {"op": "extract", "parameters": [{"type": "regular", "value": name}]}
        transitions = [{"type": "default", "value": None, "mask": None, "next_state": None}]
        key = []
        if i + 1 < len(headers):
            (header, selected), value = selects[name]
            text = hexadecimal(value, WIDTHS[header][selected])
            following = f"parse_{headers[i + 1]}"
            transitions.insert(
                0, {"type": "hexstr", "value": text, "mask": None, "next_state": following}
            )
            key = [{"type": "field", "value": [header, selected]}]
        states.append(
            {"name": f"parse_{name}", "id": i, "parser_ops": [extract],
             "transitions": transitions, "transition_key": key}
        )  # fmt: skip
    return {"name": "parser", "id": 0, "init_state": "parse_ethernet", "parse_states": states}


def trivial(updates: Sequence[Update]) -> Json:
    program = Program(["ethernet"], updates)
    _destination(program)
    return program.as_json()


def large(updates: Sequence[Update]) -> Json:
    program = Program(["ethernet", "ipv4", "udp"], updates)
    _destination(program)
    for number_of_flow in range(1, FLOWS + 1):
        _flow(program, f"flow{number_of_flow}", salt=number_of_flow)
    set_port = program.setter("set_port", "index", ("md", "port"))
    nothing = program.action("egress_nothing", [])
    egress_port = ("standard_metadata", "egress_port")
    program.table(
        "egress", "accounting", {"egress_port": (egress_port, "exact")}, [set_port, nothing]
    )
    port = ("md", "port")
    statements = _statistics(program, "egress", ("egress_global_timestamp",), port, port, port)
    program.table("egress", "egress_registers", {}, [program.action("egress_count", statements)])
    return program.as_json()


def _destination(program: Program) -> None:
    forward = program.setter("forward", "port", ("standard_metadata", "egress_spec"))
    to_nobody = [{"type": "header", "value": "standard_metadata"}]
    drop = program.action("drop", [{"op": "mark_to_drop", "parameters": to_nobody}])
    key = {"dst_addr": (("ethernet", "dst_addr"), "exact")}
    program.table("ingress", "destination", key, [forward, drop])


def _statistics(
    program: Program,
    instance: str,
    clock: tuple[str],
    frames: FieldName,
    longest: FieldName,
    last_seen: FieldName,
) -> list[Json]:
    """Frames, bytes, the longest frame, the time of the last one."""
    old, now = field(("md", "old")), ("md", "now")
    more = operation(">", old, field(TOTAL_LEN))
    maximum = operation("?", old, field(TOTAL_LEN), cond=more)
    return [
        *program.register(f"{instance}.frames", 32, frames, operation("+", old, number(1)), 1024),
        *program.register(
            f"{instance}.bytes", 32, frames, operation("+", old, field(TOTAL_LEN)), 1024
        ),
        *program.register(f"{instance}.longest", 16, longest, maximum, 1024),
        assign(now, field(("standard_metadata", *clock))),
        *program.register(f"{instance}.last_seen", 32, last_seen, field(now), 1024),
    ]


def _flow(program: Program, instance: str, salt: int) -> None:
    source, destination = ("ipv4", "src_addr"), ("ipv4", "dst_addr")
    pair, group, mark, row = (("md", name) for name in ("pair", "group", "mark", "row"))
    nothing = program.action(f"{instance}.nothing", [])
    tables = {
        "hosts": (
            {"src_addr": (source, "exact"), "dst_addr": (destination, "exact")},
            program.setter(f"{instance}.set_pair", "index", pair),
        ),
        "prefixes": (
            {"dst_addr": (destination, "lpm")},
            program.setter(f"{instance}.set_group", "index", group),
        ),
        "policy": (
            {
                "mark": (mark, "ternary"),
                "src_addr": (source, "ternary"),
                "dst_port": (("udp", "dst_port"), "range"),
            },
            program.setter(f"{instance}.set_mark", "mark", mark),
        ),
    }
    for name, (keys, action) in tables.items():
        program.table("ingress", f"{instance}.{name}", keys, [action, nothing])
    old = field(("md", "old"))
    full = operation("==", old, number(0xFFFFFFFF))
    saturated = operation("?", old, operation("+", old, number(1)), cond=full)
    rows = 65536
    statements = [
        *_statistics(program, instance, ("ingress_global_timestamp",), pair, group, mark),
        program.hash(f"{instance}.crc32", "crc32", salt, rows),
        *program.register(f"{instance}.sketch", 32, row, saturated, rows),
        program.hash(f"{instance}.crc16", "crc16", salt, rows),
        *program.register(f"{instance}.seen", 1, row, number(1, 1), rows),
    ]
    count = program.action(f"{instance}.count", statements)
    program.table("ingress", f"{instance}.registers", {}, [count])


PROGRAMS = {"trivial": trivial, "large": large}
