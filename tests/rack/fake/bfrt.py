"""BF Runtime at the port of bf_switchd: $PORT is the fake port manager's, all else bfrt-server's.

So a port that was added on the command line is there over gRPC too, and has the same faults. What
$PORT_STAT answers is counted by the chip, for the ports that the port manager has.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import grpc

from turntable_bfrt import SchemaError, messages, values
from turntable_bfrt.client import Client
from turntable_bfrt.schema import Table, tables_of

from .dataplane import Dataplane
from .machine import Machine
from .ports import Port, PortError, Ports

SERVICE = "/bfrt_proto.BfRuntime/"
THREADS = 32
LONGEST_S = 1e6
INSERT, MODIFY, DELETE, UPSERT = 1, 2, 4, 5
_AN = {"Au": "PM_AN_DEFAULT", "En": "PM_AN_FORCE_ENABLE", "Ds": "PM_AN_FORCE_DISABLE"}
_FEC = {"NONE": "NONE", "FC": "FIRECODE", "RS": "REED_SOLOMON"}
_LOOPBACK = {
    "NONE": "NONE",
    "Mac-near": "MAC_NEAR",
    "Mac-far": "MAC_FAR",
    "Pcs-near": "PCS_NEAR",
    "Ser-near": "SERDES_NEAR",
}
# Fields of $PORT_STAT -> what softswitch counts. The others are zero.
_COUNTED = {
    "$FramesReceivedOK": "rx_packets",
    "$OctetsReceivedinGoodFrames": "rx_bytes",
    "$FramesTransmittedOK": "tx_packets",
    "$OctetsTransmittedwithouterror": "tx_bytes",
}
_DROPPED = {
    "$FramesDroppedBufferFull": ("rx_queue_full",),
    "$FrameswithanyError": ("rx_oversize",),
    "$FramesTransmittedwithError": ("tx_failed", "tx_oversize"),
}
_OF_PRESENCE = (grpc.StatusCode.ALREADY_EXISTS.value[0], grpc.StatusCode.NOT_FOUND.value[0])
# Driver's codes of ports.py -> gRPC's.
_CODES = {
    "3": grpc.StatusCode.INVALID_ARGUMENT,
    "4": grpc.StatusCode.ALREADY_EXISTS,
    "6": grpc.StatusCode.NOT_FOUND,
    "24": grpc.StatusCode.UNAVAILABLE,
}


class BfRuntime(grpc.GenericRpcHandler):
    def __init__(self, machine: Machine, ports: Ports, dataplane: Dataplane, upstream: str) -> None:
        self._machine, self._ports, self._dataplane = machine, ports, dataplane
        descriptors = Path(machine.settings["build"]) / "lib/bfrt/bfruntime.desc"
        self._proto = messages.load(descriptors)
        unlimited = [
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
            ("grpc.max_metadata_size", 1 << 30),
        ]
        self._options = unlimited
        self._channel = grpc.insecure_channel(upstream, unlimited)
        tables = self._fixed_tables()
        self._table, self._counters = tables["$PORT"], tables["$PORT_STAT"]
        self._mirror = tables["$mirror.cfg"].id
        self._fields = {field.id: field for field in self._table.data.values()}
        self._unavailable = machine.has("unavailable_once")
        self._owner: Client | None = None
        self._hold_what_a_stale_client_holds(upstream, descriptors)

    def serve(self, address: str) -> None:
        pool = ThreadPoolExecutor(THREADS)
        server = grpc.server(pool, (self,), options=[*self._options, ("grpc.so_reuseport", 0)])
        server.add_insecure_port(address)
        server.start()
        self._server = server

    # --- The service ---

    def service(self, handler_call_details: Any) -> Any:
        method = handler_call_details.method
        name = method.removeprefix(SERVICE)
        if name == "Write":
            return grpc.unary_unary_rpc_method_handler(self._write)
        if name == "Read":
            return grpc.unary_stream_rpc_method_handler(self._read)
        if name == "SetForwardingPipelineConfig":
            call = self._channel.unary_unary(method)
            return grpc.unary_unary_rpc_method_handler(
                lambda request, context: _passed_or_failed(call, request, context)
            )
        if name == "GetForwardingPipelineConfig":
            return grpc.unary_stream_rpc_method_handler(
                lambda request, context: self._passed_stream(
                    self._channel.unary_stream(method), request, context
                )
            )
        if name == "StreamChannel":
            return grpc.stream_stream_rpc_method_handler(
                lambda requests, context: self._passed_stream(
                    self._channel.stream_stream(method), requests, context
                )
            )
        return None

    def _write(self, text: bytes, context: grpc.ServicerContext) -> bytes:
        if self._unavailable:
            self._unavailable = False
            print("bfruntime: Write: Resource temporarily not available", flush=True)
            context.abort(grpc.StatusCode.UNAVAILABLE, "Write Resource temporarily not available")
        request = self._proto.WriteRequest.FromString(text)
        of_ports = [self._is_of(update.entity, self._table) for update in request.updates]
        call = self._channel.unary_unary(SERVICE + "Write")
        if not any(of_ports):
            try:
                return _passed(call, text, context)
            except grpc.RpcError as error:
                _fail(error, context, self._as_an_sde(request, error))
        if not all(of_ports):
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "the fake takes $PORT alone in a call")
        # Whether this client may write is bfrt-server's to say.
        nothing = self._proto.WriteRequest.FromString(text)
        del nothing.updates[:]
        try:
            _passed(call, nothing.SerializeToString(), context)
        except grpc.RpcError as error:
            _fail(error, context)
        errors = [self._write_port(update) for update in request.updates]
        self._report("Write", errors, context)
        answer: bytes = self._proto.WriteResponse().SerializeToString()
        return answer

    def _read(self, text: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        request = self._proto.ReadRequest.FromString(text)
        own = (self._table, self._counters)
        of_ports = [self._is_of(entity, *own) for entity in request.entities]
        call = self._channel.unary_stream(SERVICE + "Read")
        if not any(of_ports):
            yield from self._passed_stream(call, text, context)
            return
        if not all(of_ports):
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "the fake is asked for ports alone")
        nothing = self._proto.ReadRequest.FromString(text)
        del nothing.entities[:]
        for _ in self._passed_stream(call, nothing.SerializeToString(), context):
            pass
        response, errors = self._proto.ReadResponse(), []
        for entity in request.entities:
            errors.append(self._read_ports(entity.table_entry, response))
        self._report("Read", errors, context)
        yield response.SerializeToString()

    def _passed_stream(
        self, call: Any, request: Any, context: grpc.ServicerContext
    ) -> Iterator[bytes]:
        metadata = context.invocation_metadata()
        responses = call(request, metadata=metadata, timeout=_left(context))
        context.add_callback(responses.cancel)
        try:
            yield from responses
        except grpc.RpcError as error:
            _fail(error, context)

    # --- $PORT ---

    @staticmethod
    def _is_of(entity: Any, *tables: Table) -> bool:
        return entity.WhichOneof("entity") == "table_entry" and (
            entity.table_entry.table_id in [table.id for table in tables]
        )

    def _write_port(self, update: Any) -> tuple[grpc.StatusCode, str]:
        entry = update.entity.table_entry
        try:
            given = {
                self._fields[part.field_id].name: values.decode(self._fields[part.field_id], part)
                for part in entry.data.fields
            }
            self._change(update.type, self._name_of(entry), given)
        except (PortError, SchemaError) as error:
            number = str(error).rpartition("(")[2].rstrip(")")
            code = _CODES.get(number, grpc.StatusCode.INVALID_ARGUMENT)
            return code, f"Table write failed table:$PORT {error}"
        return grpc.StatusCode.OK, ""

    def _change(self, kind: int, name: str, given: dict[str, Any]) -> None:
        added = name in {port.name for port in self._ports.added()}
        if kind == DELETE:
            if added:  # without a word otherwise, unlike the command line
                self._ports.delete(name)
            return
        if kind == INSERT or (kind == UPSERT and not added):
            if not {"$SPEED", "$FEC"} <= set(given):
                raise PortError("Invalid arguments (3)")
            fec = _named(_FEC, given.pop("$FEC"), "BF_FEC_TYP_")
            speed = given.pop("$SPEED").removeprefix("BF_SPEED_")
            if not added:  # otherwise it keeps what it has
                self._ports.add(name, speed, fec)
        elif kind not in (MODIFY, UPSERT):
            raise PortError("Operation not supported (17)")
        if "$FEC" in given:
            self._ports.set(name, "fec", _named(_FEC, given["$FEC"], "BF_FEC_TYP_"))
        if "$AUTO_NEGOTIATION" in given:
            self._ports.set(name, "an", _named(_AN, given["$AUTO_NEGOTIATION"], ""))
        if given.get("$PORT_ENABLE") is False:
            self._ports.enable(name, False)
        if "$LOOPBACK_MODE" in given:
            self._ports.set(
                name, "loopback", _named(_LOOPBACK, given["$LOOPBACK_MODE"], "BF_LPBK_")
            )
        if given.get("$PORT_ENABLE"):
            self._ports.enable(name, True)

    def _read_ports(self, entry: Any, response: Any) -> tuple[grpc.StatusCode, str]:
        of_counters = entry.table_id == self._counters.id
        table = self._counters if of_counters else self._table
        found = {port.name: port for port in self._ports.added()}
        if entry.HasField("key"):
            try:
                name = self._name_of(entry)
            except PortError:
                name = ""
            if name not in found:
                text = f"Table read failed table:{table.name} Object not found"
                return grpc.StatusCode.NOT_FOUND, text
            found = {name: found[name]}
        counted = self._dataplane.counters() if of_counters else {}
        for port in found.values():
            one = response.entities.add().table_entry
            one.table_id = table.id
            values.encode_key(table.keys["$DEV_PORT"], port.dev_port, one.key.fields.add())
            row = self._row_of(counted.get(port.dev_port)) if of_counters else self._row(port)
            for name, value in row.items():
                values.encode(table.data[name], value, one.data.fields.add())
        return grpc.StatusCode.OK, ""

    def _row_of(self, counted: dict[str, Any] | None) -> dict[str, int]:
        """counted: of a port; None: nothing is plugged in there."""
        row = dict.fromkeys(self._counters.data, 0)
        if counted is not None:
            drops = counted["drops"]
            row |= {field: counted[name] for field, name in _COUNTED.items()}
            row |= {field: sum(drops[name] for name in names) for field, names in _DROPPED.items()}
        return row

    def _row(self, port: Port) -> dict[str, Any]:
        connector, channel = port.name.split("/")
        return {
            "$SPEED": f"BF_SPEED_{port.speed}",
            "$FEC": f"BF_FEC_TYP_{_FEC[port.fec]}",
            "$PORT_ENABLE": port.enabled_at is not None,
            "$AUTO_NEGOTIATION": _AN[port.an],
            "$LOOPBACK_MODE": f"BF_LPBK_{_LOOPBACK[port.loopback]}",
            "$IS_VALID": True,
            "$IS_INTERNAL": False,
            "$CONN_ID": int(connector),
            "$CHNL_ID": int(channel),
            "$PORT_UP": self._ports.is_up(port),
            "$PORT_NAME": port.name,
        }

    def _name_of(self, entry: Any) -> str:
        [part] = entry.key.fields
        number = values.decode_key(self._table.keys["$DEV_PORT"], part)
        for name, place in self._ports.board.items():
            if place["dev_port"] == number:
                return name
        raise PortError("Invalid arguments (3)")

    def _fixed_tables(self) -> dict[str, Table]:
        call = self._channel.unary_stream(SERVICE + "GetForwardingPipelineConfig")
        request = self._proto.GetForwardingPipelineConfigRequest()
        [answer] = call(request.SerializeToString())
        configs = self._proto.GetForwardingPipelineConfigResponse.FromString(answer)
        self._program = configs.config[0].p4_name
        return tables_of(configs.non_p4_config.bfruntime_info)

    # --- Errors and faults ---

    def _as_an_sde(self, request: Any, error: Any) -> list[tuple[str, str | bytes]]:
        """The trailers of a failed Write: mirror sessions that are there already, or missing, are
        an invalid argument.
        """
        trailers = []
        for name, value in error.trailing_metadata() or ():
            if name == "grpc-status-details-bin":
                status = self._proto.Status.FromString(value)
                for update, detail in zip(request.updates, status.details, strict=False):
                    one = self._proto.Error()
                    detail.Unpack(one)
                    of_mirror = update.entity.table_entry.table_id == self._mirror
                    if of_mirror and one.canonical_code in _OF_PRESENCE:
                        one.canonical_code = grpc.StatusCode.INVALID_ARGUMENT.value[0]
                        detail.Pack(one)
                value = status.SerializeToString()  # noqa: PLW2901
            trailers.append((name, value))
        return trailers

    def _report(
        self, what: str, errors: list[tuple[grpc.StatusCode, str]], context: grpc.ServicerContext
    ) -> None:
        """Ends the call if one of its updates failed: all up to the last of those are told."""
        failed = [i for i, (code, _) in enumerate(errors) if code is not grpc.StatusCode.OK]
        if not failed:
            return
        status = self._proto.Status(code=grpc.StatusCode.UNKNOWN.value[0])
        for code, text in errors[: failed[-1] + 1]:
            error = self._proto.Error(canonical_code=code.value[0], message=text)
            status.details.add().Pack(error)
        details = status.SerializeToString()
        context.set_trailing_metadata([("grpc-status-details-bin", details)])
        context.abort(grpc.StatusCode.UNKNOWN, f"{what} Error Status")

    def _hold_what_a_stale_client_holds(self, upstream: str, descriptors: Path) -> None:
        stale = self._machine.has("stale_owner")
        if not stale and not self._machine.has("duplicate_client_id"):
            return
        settings = self._machine.settings
        self._owner = Client(upstream, settings["stale_client_id" if stale else "duplicate_id"],
                             descriptors)  # fmt: skip
        self._owner.bind(self._program)
        if stale and settings["stale_for_s"] is not None:
            threading.Timer(settings["stale_for_s"], self._owner.close).start()


def _named(names: dict[str, str], value: str, prefix: str) -> str:
    """The key of a value; FC and RS are accepted by their other names too."""
    text = value.removeprefix(prefix)
    for own, name in names.items():
        if text in (name, own):
            return own
    raise PortError("Invalid arguments (3)")


def _left(context: grpc.ServicerContext) -> float | None:
    """Seconds; a call without a deadline has none upstream either."""
    left = context.time_remaining()
    return left if left is not None and left < LONGEST_S else None


def _passed(call: Any, request: bytes, context: grpc.ServicerContext) -> bytes:
    metadata = context.invocation_metadata()
    answer: bytes = call(request, metadata=metadata, timeout=_left(context))
    return answer


def _passed_or_failed(call: Any, request: bytes, context: grpc.ServicerContext) -> bytes:
    try:
        return _passed(call, request, context)
    except grpc.RpcError as error:
        _fail(error, context)


def _fail(
    error: Any, context: grpc.ServicerContext, trailers: Sequence[Any] | None = None
) -> NoReturn:
    """trailers: instead of the error's own."""
    if error.code() is grpc.StatusCode.CANCELLED:
        with contextlib.suppress(Exception):
            context.cancel()
    context.set_trailing_metadata(
        trailers if trailers is not None else error.trailing_metadata() or ()
    )
    context.abort(error.code(), error.details())
