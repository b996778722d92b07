"""A client of BF Runtime as small as a test needs: names from the server's schema, plain values."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import grpc

from .messages import Calls

DEADLINE_S = 20.0
ALL_PIPES = 0xFFFF
UNLIMITED = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 1 << 30),
]


@dataclass
class Entry:
    key: dict[str, Any]
    action: str | None
    data: dict[str, Any]
    is_default: bool


@dataclass
class CallError(Exception):
    """A call that failed, with what its trailing metadata say of each update."""

    code: grpc.StatusCode
    message: str
    details: list[tuple[int, str]] = field(default_factory=list)

    def codes(self) -> list[int]:
        return [code for code, _ in self.details]


class Client:
    def __init__(self, address: str, proto: SimpleNamespace, client_id: int = 1) -> None:
        self.proto = proto
        self.client_id = client_id
        self.channel = grpc.insecure_channel(address, options=UNLIMITED)
        self.calls = Calls(self.channel, proto)
        self.messages: queue.Queue[Any] = queue.Queue()
        self._outgoing: queue.Queue[Any] = queue.Queue()
        self._stream: Any = None
        self._tables: dict[str, Any] | None = None
        self.metadata: list[tuple[str, str]] = []

    # --- the stream ---

    def open(self, *, reads: bool = True, **notifications: bool) -> Any:
        """Opens the stream and subscribes; the server's answer, unless nobody reads the stream."""
        request = self.proto.StreamMessageRequest(client_id=self.client_id)
        request.subscribe.device_id = 0
        for name, wanted in notifications.items():
            setattr(request.subscribe.notifications, name, wanted)
        self._outgoing.put(request)
        self._stream = self.calls.stream(iter(self._outgoing.get, None))
        if not reads:
            return None
        threading.Thread(target=self._receive, args=[self._stream], daemon=True).start()
        answer = self.message()
        if isinstance(answer, grpc.RpcError):
            raise _call_error(answer, self.proto)
        return answer.subscribe

    def _receive(self, stream: Iterator[Any]) -> None:
        try:
            for message in stream:
                self.messages.put(message)
            self.messages.put(None)
        except grpc.RpcError as error:
            self.messages.put(error)

    def message(self) -> Any:
        """The next of the stream; None at its end, an RpcError if it was broken off."""
        return self.messages.get(timeout=DEADLINE_S)

    def send(self, **fields: Any) -> None:
        self._outgoing.put(self.proto.StreamMessageRequest(client_id=self.client_id, **fields))

    def close(self) -> None:
        """Ends the stream, waits until the server has ended it too, and closes the connection."""
        if self._stream is not None:
            self._outgoing.put(None)
            while self._stream.is_active() and not isinstance(
                self.messages.get(), (grpc.RpcError, type(None))
            ):
                pass
        self.channel.close()

    def cut(self) -> None:
        """The connection goes away without a word."""
        self.channel.close()

    def bind(self, program: str | None = None) -> None:
        request = self.proto.SetForwardingPipelineConfigRequest(client_id=self.client_id)
        request.config.add().p4_name = program or self.config().config[0].p4_name
        self._call(self.calls.set_config, request)

    def config(self) -> Any:
        request = self.proto.GetForwardingPipelineConfigRequest(client_id=self.client_id)
        return self._call(self.calls.get_config, request)

    # --- the schema ---

    def table(self, name: str) -> Any:
        if self._tables is None:
            config = self.config()
            self._tables = {}
            for text in (config.config[0].bfruntime_info, config.non_p4_config.bfruntime_info):
                for table in json.loads(text)["tables"]:
                    self._tables[table["name"]] = table
        found = [table for full, table in self._tables.items() if _is_suffix(name, full)]
        assert len(found) == 1, f"{name}: {[table['name'] for table in found]}"
        return found[0]

    def _data_fields(self, table: Any, action: str | None) -> dict[str, Any]:
        elements = list(table["data"])
        if action is not None:
            elements += _by_suffix(table["action_specs"], action)["data"]
        fields = [
            field
            for element in elements
            for field in element.get("oneof", [element.get("singleton", element)])
        ]
        return {each["name"]: each for each in fields}

    # --- messages ---

    def entry(
        self,
        table_name: str,
        key: dict[str, Any] | None = None,
        action: str | None = None,
        data: dict[str, Any] | None = None,
        **attributes: Any,
    ) -> Any:
        """A TableEntry. Key values: a number or text; {"value", "mask"}, {"value", "prefix_len"},
        {"low", "high"}. Bytes are sent as they are.
        """
        table = self.table(table_name)
        entry = self.proto.TableEntry(table_id=table["id"], **attributes)
        if key is not None:
            entry.key.SetInParent()
            for name, value in key.items():
                self._put_key(_by_suffix(table["key"], name), value, entry.key.fields.add())
        if action is not None:
            entry.data.action_id = _by_suffix(table["action_specs"], action)["id"]
        if data is not None:
            entry.data.SetInParent()
            fields = self._data_fields(table, action)
            for name, value in data.items():
                _put_datum(_by_suffix(list(fields.values()), name), value, entry.data.fields.add())
        return entry

    def _put_key(self, described: Any, value: Any, message: Any) -> None:
        message.field_id = described["id"]
        match = described["match_type"].lower()
        parts = value if isinstance(value, dict) else {"value": value}
        for part, number in parts.items():
            is_number = part != "prefix_len"
            content = _bytes(number, described["type"]) if is_number else number
            setattr(getattr(message, match), part, content)

    def update(self, kind: str, entry: Any) -> Any:
        update = self.proto.Update(type=kind)
        update.entity.table_entry.CopyFrom(entry)
        return update

    # --- calls ---

    def _call(self, method: Any, request: Any) -> Any:
        try:
            return method(request, timeout=DEADLINE_S, metadata=self.metadata)
        except grpc.RpcError as error:
            raise _call_error(error, self.proto) from None

    def write_updates(
        self,
        updates: list[Any],
        atomicity: str = "CONTINUE_ON_ERROR",
        pipe: int = ALL_PIPES,
        p4_name: str = "",
    ) -> Any:
        request = self.proto.WriteRequest(
            client_id=self.client_id, atomicity=atomicity, p4_name=p4_name
        )
        request.target.pipe_id = pipe
        request.target.direction = 0xFF
        request.target.prsr_id = 0xFF
        request.updates.extend(updates)
        return self._call(self.calls.write, request)

    def write(
        self, kind: str, table: str, *arguments: Any, pipe: int = ALL_PIPES, **named: Any
    ) -> Any:
        entry = self.entry(table, *arguments, **named)
        return self.write_updates([self.update(kind, entry)], pipe=pipe)

    def insert(self, table: str, *arguments: Any, **named: Any) -> Any:
        return self.write("INSERT", table, *arguments, **named)

    def modify(self, table: str, *arguments: Any, **named: Any) -> Any:
        return self.write("MODIFY", table, *arguments, **named)

    def delete(self, table: str, *arguments: Any, **named: Any) -> Any:
        return self.write("DELETE", table, *arguments, **named)

    def operate(self, table: str, operation: str) -> None:
        update = self.proto.Update(type="INSERT")
        update.entity.table_operation.table_id = self.table(table)["id"]
        update.entity.table_operation.table_operations_type = operation
        self.write_updates([update])

    def read_entities(self, entities: list[Any], pipe: int = ALL_PIPES, p4_name: str = "") -> Any:
        request = self.proto.ReadRequest(client_id=self.client_id, p4_name=p4_name)
        request.target.pipe_id = pipe
        request.entities.extend(entities)
        answers: list[Any] = []
        try:
            answers.extend(self.calls.read(request, timeout=DEADLINE_S, metadata=self.metadata))
        except grpc.RpcError as error:
            raise _call_error(error, self.proto) from None
        assert len(answers) == 1
        return answers[0]

    def read(
        self,
        table: str,
        key: dict[str, Any] | None = None,
        *,
        from_hw: bool = True,
        pipe: int = ALL_PIPES,
        **attributes: Any,
    ) -> list[Entry]:
        entry = self.entry(table, key, **attributes)
        entry.table_flags.from_hw = from_hw
        answer = self.read_entities([self.proto.Entity(table_entry=entry)], pipe)
        return [self.plain(entity.table_entry) for entity in answer.entities]

    def usage(self, table: str, pipe: int = ALL_PIPES) -> int:
        usage = self.proto.TableUsage(table_id=self.table(table)["id"])
        answer = self.read_entities([self.proto.Entity(table_usage=usage)], pipe)
        used: int = answer.entities[0].table_usage.usage
        return used

    def plain(self, entry: Any) -> Entry:
        """A TableEntry of an answer; data that occur several times become lists."""
        config = self._tables or {}
        table = next(each for each in config.values() if each["id"] == entry.table_id)
        action = None
        if entry.data.action_id:
            actions = table["action_specs"]
            action = next(a["name"] for a in actions if a["id"] == entry.data.action_id)
        fields = {each["id"]: each for each in self._data_fields(table, action).values()}
        data: dict[str, Any] = {}
        for message in entry.data.fields:
            described = fields[message.field_id]
            value = _plain_datum(message, described)
            if _is_register(described):
                data.setdefault(described["name"], []).append(value)
            else:
                data[described["name"]] = value
        keys = {each["id"]: each for each in table["key"]}
        key = {keys[m.field_id]["name"]: _plain_key(m, keys[m.field_id]) for m in entry.key.fields}
        return Entry(key, action, data, entry.is_default_entry)


def _is_register(described: Any) -> bool:
    return any(each["name"] == "$bfrt_field_class" for each in described["annotations"])


def _is_suffix(name: str, full: str) -> bool:
    return full == name or full.endswith("." + name)


def _by_suffix(items: list[Any], name: str) -> Any:
    exact = [item for item in items if item["name"] == name]
    found = exact or [item for item in items if _is_suffix(name, item["name"])]
    assert len(found) == 1, f"{name} among {[item['name'] for item in items]}"
    return found[0]


def _bytes(value: Any, type_: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    bits = type_.get("width") or int(type_["type"].removeprefix("uint"))
    return int(value).to_bytes((bits + 7) // 8, "big")


def _put_datum(described: Any, value: Any, message: Any) -> None:
    message.field_id = described["id"]
    if "container" in described:
        parts = {each["singleton"]["name"]: each["singleton"] for each in described["container"]}
        message.container_arr_val.SetInParent()
        for values in value:
            container = message.container_arr_val.container.add()
            for name, part in values.items():
                _put_datum(parts[name], part, container.val.add())
    elif isinstance(value, list):
        arrays = {bool: message.bool_arr_val, str: message.str_arr_val}
        is_bool = described["type"]["type"] == "bool"
        array = (
            message.bool_arr_val
            if is_bool
            else arrays.get(type(value[0]) if value else int, message.int_arr_val)
        )
        array.SetInParent()
        array.val.extend(value)
    elif isinstance(value, bool):
        message.bool_val = value
    elif isinstance(value, str):
        message.str_val = value
    elif isinstance(value, float):
        message.float_val = value
    else:
        message.stream = _bytes(value, described["type"])


def _plain_datum(message: Any, described: Any) -> Any:
    kind = message.WhichOneof("value")
    value = getattr(message, kind)
    if kind == "container_arr_val":
        parts = {each["singleton"]["id"]: each["singleton"] for each in described["container"]}
        return [
            {
                parts[part.field_id]["name"]: _plain_datum(part, parts[part.field_id])
                for part in container.val
            }
            for container in value.container
        ]
    if kind == "stream":
        return int.from_bytes(value, "big")
    return list(value.val) if kind.endswith("arr_val") else value


def _plain_key(message: Any, described: Any) -> Any:
    kind = message.WhichOneof("match_type")
    match = getattr(message, kind)
    if kind == "exact" and described["type"]["type"] == "string":
        return match.value.decode()
    parts = {
        part.name: getattr(match, part.name)
        if part.name == "prefix_len"
        else int.from_bytes(getattr(match, part.name), "big")
        for part in match.DESCRIPTOR.fields
    }
    return parts["value"] if kind == "exact" else parts


def _call_error(error: Any, proto: SimpleNamespace) -> CallError:
    failed = CallError(error.code(), error.details())
    for name, value in error.trailing_metadata() or ():
        if name != "grpc-status-details-bin":
            continue
        for packed in proto.Status.FromString(value).details:
            each = proto.Error()
            assert packed.type_url == "type.googleapis.com/bfrt_proto.Error"
            each.ParseFromString(packed.value)
            failed.details.append((each.canonical_code, each.message))
    return failed
