"""One client of one switch: subscribe, bind, read and write entries."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc

from turntable_bfrt import messages, values
from turntable_bfrt.errors import BfrtError, SchemaError
from turntable_bfrt.schema import Action, Table, resolve, tables_of

ALL_PIPES = 0xFFFF
_ALL = 0xFF
_AGAIN_S = 0.05
_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 1 << 30),  # an error of each update of a batch
    ("grpc.enable_http_proxy", 0),
]
_TYPES = {"insert": 1, "modify": 2, "delete": 4, "upsert": 5, "clear": 4, "set_default": 2}
_ROLLBACK = 1
# Of the last of several attempts: what stood in the way of those before is the reason.
_CUT_SHORT = ("CANCELLED", "DEADLINE_EXCEEDED")


@dataclass(frozen=True)
class Update:
    """op: insert, modify, upsert, delete, clear (a whole table) or set_default."""

    op: str
    table: str
    key: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    action: str | None = None
    pipe: int = ALL_PIPES


@dataclass(frozen=True)
class Entry:
    """A register's field has a list: its value in each pipe."""

    key: dict[str, Any]
    data: dict[str, Any]
    action: str | None = None
    is_default: bool = False


class Client:
    """deadline_s: of each method. One thread."""

    def __init__(
        self, address: str, client_id: int, descriptors: Path, deadline_s: float = 10.0
    ) -> None:
        self._address = address
        self._client_id = client_id
        self._deadline_s = deadline_s
        self._proto = messages.load(descriptors)
        self._channel = grpc.insecure_channel(address, options=_OPTIONS)
        self._calls = messages.Calls(self._channel, self._proto)
        self._requests: queue.Queue[Any] = queue.Queue()
        self._stream: Any = None
        self._tables: dict[str, Table] = {}

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives id and program back."""
        self._requests.put(None)
        if self._stream is not None:
            self._stream.cancel()
        self._channel.close()

    def programs(self) -> list[str]:
        """That the switch runs."""
        return [config.p4_name for config in self._configs().config]

    def bind(self, program: str) -> None:
        """Subscribes, checks that the switch runs this program, and becomes its owner. Another
        owner of id or program is waited for until the deadline.
        """
        end = time.monotonic() + self._deadline_s
        reason: BfrtError | None = None
        while True:
            try:
                self._subscribe(end)
                return self._bind(program)
            except BfrtError as error:
                if reason is not None and error.code in _CUT_SHORT:
                    raise reason from None
                reason = error
                in_the_way = error.code in ("ALREADY_EXISTS", "INVALID_ARGUMENT", "UNAVAILABLE")
                if not in_the_way or time.monotonic() > end:
                    raise
            _let_time_pass()

    def table(self, name: str) -> Table:
        """By name or a suffix of it; after bind()."""
        return self._tables[resolve(self._tables, name, f"table of switch {self._address}")]

    def tables(self) -> dict[str, Table]:
        """All of the program and the switch, by full name; after bind()."""
        return dict(self._tables)

    def write(self, updates: Sequence[Update], *, all_or_nothing: bool = False) -> None:
        """Raises BfrtError that has the errors of single updates."""
        request = self._proto.WriteRequest(client_id=self._client_id)
        self._set_target(request.target, ALL_PIPES)
        request.atomicity = _ROLLBACK if all_or_nothing else 0
        for update in updates:
            self._put_update(update, request.updates.add())
        self._call(f"write to switch {self._address}", self._calls.write, request)

    def operate(self, table: str, operation: str) -> None:
        """For instance Sync: what the driver of the switch knows is what the hardware has."""
        request = self._proto.WriteRequest(client_id=self._client_id)
        self._set_target(request.target, ALL_PIPES)
        update = request.updates.add(type=_TYPES["insert"])
        update.entity.table_operation.table_id = self.table(table).id
        update.entity.table_operation.table_operations_type = operation
        self._call(f"{operation} of {table}", self._calls.write, request)

    def read(
        self,
        table: str,
        keys: Iterable[Mapping[str, Any]] | None = None,
        *,
        from_hardware: bool = False,
        pipe: int = ALL_PIPES,
    ) -> list[Entry]:
        """The entries with these keys; without them all, and the default one where there is one."""
        schema = self.table(table)
        request = self._proto.ReadRequest(client_id=self._client_id)
        self._set_target(request.target, pipe)
        for key in [None] if keys is None else keys:
            entry = request.entities.add().table_entry
            entry.table_id = schema.id
            entry.table_flags.from_hw = from_hardware
            if key is not None:
                self._put_key(schema, key, entry)
        what = f"read of {schema.name} at switch {self._address}"
        responses = self._call(what, lambda *a, **k: list(self._calls.read(*a, **k)), request)
        return [
            _entry(schema, entity.table_entry)
            for response in responses
            for entity in response.entities
        ]

    # --- The connection ---

    def _subscribe(self, end: float) -> None:
        if self._stream is not None and self._stream.is_active():
            return
        requests: queue.Queue[Any] = queue.Queue()
        self._requests = requests
        self._stream = self._calls.stream(iter(requests.get, None))
        request = self._proto.StreamMessageRequest(client_id=self._client_id)
        request.subscribe.device_id = 0
        requests.put(request)
        timer = threading.Timer(max(0.0, end - time.monotonic()), self._stream.cancel)
        timer.start()
        try:
            next(self._stream)
        except grpc.RpcError as error:
            what = f"subscribe as client {self._client_id} of switch {self._address}"
            raise self._error(what, error) from None
        finally:
            timer.cancel()
        threading.Thread(target=_drain, args=(self._stream,), daemon=True).start()

    def _configs(self) -> Any:
        request = self._proto.GetForwardingPipelineConfigRequest(client_id=self._client_id)
        return self._call(f"programs of switch {self._address}", self._calls.get_config, request)

    def _bind(self, program: str) -> None:
        configs = self._configs()
        found = [config for config in configs.config if config.p4_name == program]
        if not found:
            names = ", ".join(config.p4_name for config in configs.config) or "no program"
            message = f"it runs {names}; expected {program}"
            raise BfrtError(f"switch {self._address}", "FAILED_PRECONDITION", message)
        request = self._proto.SetForwardingPipelineConfigRequest(client_id=self._client_id)
        request.config.add(p4_name=program)
        self._call(f"bind to {program} at {self._address}", self._calls.set_config, request)
        self._tables = tables_of(found[0].bfruntime_info, configs.non_p4_config.bfruntime_info)

    def _call(self, what: str, method: Any, request: Any) -> Any:
        """Asks again while the switch is busy."""
        end = time.monotonic() + self._deadline_s
        reason: BfrtError | None = None
        while True:
            try:
                return method(request, timeout=max(0.001, end - time.monotonic()))
            except grpc.RpcError as error:
                failure = self._error(what, error)
                if reason is not None and failure.code in _CUT_SHORT:
                    raise reason from None
                reason = failure
                connected = self._stream is not None and self._stream.is_active()
                if failure.code != "UNAVAILABLE" or not connected or time.monotonic() > end:
                    raise failure from None
            _let_time_pass()

    def _error(self, what: str, error: Any) -> BfrtError:
        updates = []
        for name, value in error.trailing_metadata() or ():
            if name != "grpc-status-details-bin":
                continue
            for i, detail in enumerate(self._proto.Status.FromString(value).details):
                one = self._proto.Error()
                detail.Unpack(one)
                if one.canonical_code != 0:
                    updates.append((i, _status_name(one.canonical_code), one.message))
        return BfrtError(what, error.code().name, error.details() or "", updates)

    # --- Messages ---

    def _set_target(self, target: Any, pipe: int) -> None:
        target.pipe_id, target.direction, target.prsr_id = pipe, _ALL, _ALL

    def _put_key(self, table: Table, key: Mapping[str, Any], entry: Any) -> None:
        for name, value in key.items():
            schema = table.keys[resolve(table.keys, name, f"key of table {table.name}")]
            values.encode_key(schema, value, entry.key.fields.add())

    def _put_update(self, update: Update, message: Any) -> None:
        if update.op not in _TYPES:
            raise SchemaError(f"op {update.op!r}; expected one of {', '.join(_TYPES)}")
        table = self.table(update.table)
        message.type = _TYPES[update.op]
        entry = message.entity.table_entry
        entry.table_id = table.id
        entry.is_default_entry = update.op == "set_default"
        self._put_key(table, update.key, entry)
        if update.pipe != ALL_PIPES:
            self._set_target(entry.entry_tgt, update.pipe)
        if update.op in ("delete", "clear"):
            return
        action = None if update.action is None else table.action(update.action)
        if action is not None:
            entry.data.action_id = action.id
        fields = table.data_of(action)
        for name, value in update.data.items():
            schema = fields[resolve(fields, name, f"data field of table {table.name}")]
            values.encode(schema, value, entry.data.fields.add())


def _entry(table: Table, message: Any) -> Entry:
    keys = {schema.id: schema for schema in table.keys.values()}
    key = {
        keys[part.field_id].name: values.decode_key(keys[part.field_id], part)
        for part in message.key.fields
    }
    action: Action | None = next(
        (one for one in table.actions.values() if one.id == message.data.action_id), None
    )
    fields = {schema.id: schema for schema in table.data_of(action).values()}
    data: dict[str, Any] = {}
    for part in message.data.fields:
        schema = fields[part.field_id]
        value = values.decode(schema, part)
        if table.type == "Register":
            data.setdefault(schema.name, []).append(value)
        else:
            data[schema.name] = value
    return Entry(key, data, action.name if action else None, message.is_default_entry)


def _status_name(number: int) -> str:
    return next(
        (code.name for code in grpc.StatusCode if code.value[0] == number), f"status {number}"
    )


def _let_time_pass() -> None:
    """Between two attempts; their deadline is the caller's."""
    threading.Event().wait(_AGAIN_S)


def _drain(stream: Iterator[Any]) -> None:
    """Until the stream ends: what the switch tells is not wanted."""
    try:
        for _ in stream:
            pass
    except grpc.RpcError:
        pass
