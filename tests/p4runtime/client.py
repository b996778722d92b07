"""A client of P4Runtime as small as a test needs: names of the P4Info, plain values."""

from __future__ import annotations

import functools
import queue
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

DEADLINE_S = 20.0
# Of what compiles programs, and of a stream, which lasts as long as its test.
LONG_DEADLINE_S = 600.0
DEVICE = 1
SERVICE = "p4.v1.P4Runtime"
OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_metadata_size", 1 << 20)]


def load(descriptors: bytes) -> SimpleNamespace:
    """All messages and enums of p4.v1 and p4.config.v1, and google.rpc.Status, by their names.

    Those of p4.config.v1 are behind `config`, for both have an Action.
    """
    described = descriptor_pb2.FileDescriptorSet()
    described.ParseFromString(descriptors)
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        pool.Add(file)  # type: ignore[no-untyped-call]
    made = message_factory.GetMessageClassesForFiles([f.name for f in described.file], pool)

    def of(package: str) -> dict[str, Any]:
        return {
            name.removeprefix(f"{package}."): each
            for name, each in made.items()
            if name.startswith(f"{package}.") and "." not in name.removeprefix(f"{package}.")
        }

    config = SimpleNamespace(**of("p4.config.v1"))
    return SimpleNamespace(**of("p4.v1"), config=config, Status=made["google.rpc.Status"])


@dataclass
class CallError(Exception):
    """A call that failed, with what its trailing metadata say of each update."""

    code: grpc.StatusCode
    message: str
    details: list[tuple[int, str]] = field(default_factory=list)

    def codes(self) -> list[int]:
        return [code for code, _ in self.details]


def code(name: str) -> int:
    """The number of a canonical error."""
    number: int = grpc.StatusCode[name].value[0]
    return number


class Client:
    def __init__(
        self, address: str, proto: SimpleNamespace, election_id: int = 1, credentials: Any = None
    ) -> None:
        """credentials: of a channel with TLS; None: plain text."""
        self.proto = proto
        self.election_id = election_id
        if credentials is None:
            self.channel = grpc.insecure_channel(address, options=OPTIONS)
        else:
            self.channel = grpc.secure_channel(address, credentials, options=OPTIONS)
        self._outgoing: queue.Queue[Any] = queue.Queue()
        self._incoming: Any = None

    @functools.cached_property
    def info(self) -> Any:
        """The P4Info of the program that runs when it is first asked for."""
        return self.get_config().p4info

    # --- calls ---

    def _call(
        self, kind: str, method: str, request: Any, response: Any, deadline_s: float = DEADLINE_S
    ) -> Any:
        make = getattr(self.channel, kind)
        call = make(
            f"/{SERVICE}/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response.FromString,
        )
        try:
            answer = call(request, timeout=deadline_s)
            return list(answer) if kind == "unary_stream" else answer
        except grpc.RpcError as error:
            raise self._error(error) from None

    def _error(self, error: Any) -> CallError:
        trailing = dict(error.trailing_metadata() or ())
        status = self.proto.Status.FromString(trailing.get("grpc-status-details-bin", b""))
        details = []
        for packed in status.details:
            each = self.proto.Error()
            packed.Unpack(each)
            details.append((each.canonical_code, each.message))
        return CallError(error.code(), error.details(), details)

    def request(self, name: str, **fields: Any) -> Any:
        request = getattr(self.proto, name)(device_id=DEVICE, **fields)
        request.election_id.low = self.election_id
        return request

    def write(self, *updates: Any, atomicity: int = 0) -> None:
        request = self.request("WriteRequest", updates=updates, atomicity=atomicity)
        self._call("unary_unary", "Write", request, self.proto.WriteResponse)

    def read(self, *entities: Any) -> list[Any]:
        request = self.proto.ReadRequest(device_id=DEVICE, entities=entities)
        answers = self._call("unary_stream", "Read", request, self.proto.ReadResponse)
        return [entity for answer in answers for entity in answer.entities]

    def set_config(self, action: str, config: Any | None) -> None:
        kind = self.proto.SetForwardingPipelineConfigRequest
        request = self.request(
            "SetForwardingPipelineConfigRequest", action=kind.Action.Value(action), config=config
        )
        response = self.proto.SetForwardingPipelineConfigResponse
        self._call("unary_unary", "SetForwardingPipelineConfig", request, response, LONG_DEADLINE_S)

    def get_config(self, response_type: str = "ALL") -> Any:
        kind = self.proto.GetForwardingPipelineConfigRequest
        request = kind(device_id=DEVICE, response_type=kind.ResponseType.Value(response_type))
        response = self.proto.GetForwardingPipelineConfigResponse
        return self._call("unary_unary", "GetForwardingPipelineConfig", request, response).config

    def capabilities(self) -> Any:
        request = self.proto.CapabilitiesRequest(device_id=DEVICE)
        answer = self.proto.CapabilitiesResponse
        return self._call("unary_unary", "Capabilities", request, answer)

    # --- the stream ---

    def open(self, election_id: int | None = None, *, device: int = DEVICE, role: str = "") -> Any:
        """Sends a MasterArbitrationUpdate on the stream, and gives the first answer."""
        if election_id is not None:
            self.election_id = election_id
        self.ask(self.election_id, device=device, role=role)
        return self.next()

    def ask(self, election_id: int | None, *, device: int = DEVICE, role: str = "") -> None:
        message = self.proto.StreamMessageRequest()
        message.arbitration.device_id = device
        if role:
            message.arbitration.role.name = role
        if election_id is not None:
            message.arbitration.election_id.low = election_id
        self.send(message)

    def send(self, message: Any) -> None:
        self._outgoing.put(message)
        if self._incoming is not None:
            return
        stream = self.channel.stream_stream(
            f"/{SERVICE}/StreamChannel",
            request_serializer=lambda each: each.SerializeToString(),
            response_deserializer=self.proto.StreamMessageResponse.FromString,
        )
        self._incoming = stream(iter(self._outgoing.get, None), timeout=LONG_DEADLINE_S)

    def next(self) -> Any:
        try:
            return next(self._incoming)
        except grpc.RpcError as error:
            raise self._error(error) from None

    def close(self) -> None:
        self._outgoing.put(None)
        if self._incoming is not None:
            self._incoming.cancel()
        self.channel.close()

    # --- names ---

    def named(self, kind: str, alias: str) -> Any:
        """An object of the P4Info."""
        return next(each for each in getattr(self.info, kind) if each.preamble.alias == alias)

    def id_of(self, kind: str, alias: str) -> int:
        number: int = self.named(kind, alias).preamble.id
        return number

    def action(self, alias: str, **values: bytes) -> Any:
        described = self.named("actions", alias)
        action = self.proto.Action(action_id=described.preamble.id)
        for name, value in values.items():
            number = next(p.id for p in described.params if p.name == name)
            action.params.add(param_id=number, value=value)
        return action

    def entry(self, table: str, action: Any = None, priority: int = 0, **match: Any) -> Any:
        """match: by the last part of a field's name, as its kind of match has it."""
        described = self.named("tables", table)
        entry = self.proto.TableEntry(table_id=described.preamble.id, priority=priority)
        for name, value in match.items():
            found = next(f for f in described.match_fields if f.name.endswith(name))
            entry.match.append(self.proto.FieldMatch(field_id=found.id, **value))
        if action is not None:
            entry.action.action.CopyFrom(action)
        return entry

    def update(self, kind: str, **entity: Any) -> Any:
        return self.proto.Update(
            type=self.proto.Update.Type.Value(kind), entity=self.proto.Entity(**entity)
        )

    def entries(self, table: str = "", **filters: Any) -> Iterator[Any]:
        wanted = self.proto.TableEntry(
            table_id=self.id_of("tables", table) if table else 0, **filters
        )
        return (each.table_entry for each in self.read(self.proto.Entity(table_entry=wanted)))
