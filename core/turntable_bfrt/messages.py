"""The messages of BF Runtime, made at run time from the descriptors that the build writes
(lib/bfrt/bfruntime.desc), so that any version of protobuf will do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_SERVICE = "/bfrt_proto.BfRuntime/"


@cache
def load(descriptors: Path) -> SimpleNamespace:
    """All messages by their names, without package."""
    if not descriptors.is_file():
        raise FileNotFoundError(
            f"{descriptors} does not exist; expected the descriptors of BF Runtime's messages, "
            "which `make build` writes to build/lib/bfrt/bfruntime.desc"
        )
    described = descriptor_pb2.FileDescriptorSet()
    described.ParseFromString(descriptors.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        pool.Add(file)  # type: ignore[no-untyped-call]
    classes = message_factory.GetMessageClassesForFiles([f.name for f in described.file], pool)
    return SimpleNamespace(**{name.rpartition(".")[2]: made for name, made in classes.items()})


class Calls:
    """The methods of the service."""

    def __init__(self, channel: grpc.Channel, proto: SimpleNamespace) -> None:
        def method(kind: Callable[..., Any], name: str, request: str, response: str) -> Any:
            return kind(
                _SERVICE + name,
                request_serializer=getattr(proto, request).SerializeToString,
                response_deserializer=getattr(proto, response).FromString,
            )

        config = "ForwardingPipelineConfig"
        self.write = method(channel.unary_unary, "Write", "WriteRequest", "WriteResponse")
        self.read = method(channel.unary_stream, "Read", "ReadRequest", "ReadResponse")
        self.set_config = method(
            channel.unary_unary, f"Set{config}", f"Set{config}Request", f"Set{config}Response"
        )
        self.get_config = method(
            channel.unary_unary, f"Get{config}", f"Get{config}Request", f"Get{config}Response"
        )
        self.stream = method(
            channel.stream_stream, "StreamChannel", "StreamMessageRequest", "StreamMessageResponse"
        )
