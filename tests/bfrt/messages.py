"""The messages and calls of BF Runtime, made at run time from the descriptors of the build."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "bfrt_proto.BfRuntime"


def load(build_dir: Path) -> SimpleNamespace:
    """All messages and enums of package bfrt_proto, and google.rpc.Status, by their names."""
    described = descriptor_pb2.FileDescriptorSet()
    described.ParseFromString((build_dir / "lib" / "bfrt" / "bfruntime.desc").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        pool.Add(file)  # type: ignore[no-untyped-call]
    names = [file.name for file in described.file]
    classes = message_factory.GetMessageClassesForFiles(names, pool)
    return SimpleNamespace(**{name.rpartition(".")[2]: made for name, made in classes.items()})


class Calls:
    """The service's methods on a channel."""

    def __init__(self, channel: grpc.Channel, proto: SimpleNamespace) -> None:
        def method(kind: Any, name: str, request: Any, response: Any) -> Any:
            return kind(
                f"/{SERVICE}/{name}",
                request_serializer=request.SerializeToString,
                response_deserializer=response.FromString,
            )

        unary, stream = channel.unary_unary, channel.unary_stream
        self.write = method(unary, "Write", proto.WriteRequest, proto.WriteResponse)
        self.read = method(stream, "Read", proto.ReadRequest, proto.ReadResponse)
        self.set_config = method(
            unary,
            "SetForwardingPipelineConfig",
            proto.SetForwardingPipelineConfigRequest,
            proto.SetForwardingPipelineConfigResponse,
        )
        self.get_config = method(
            unary,
            "GetForwardingPipelineConfig",
            proto.GetForwardingPipelineConfigRequest,
            proto.GetForwardingPipelineConfigResponse,
        )
        self.stream = method(
            channel.stream_stream,
            "StreamChannel",
            proto.StreamMessageRequest,
            proto.StreamMessageResponse,
        )
