"""Who is let in where the server has certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from bfrt.conftest import Server
from packet.live_switch import SoftswitchTarget

from .certificates import Authority
from .client import CallError, Client
from .conftest import Connect
from .test_tables import forward


def credentials(root: Path, pair: tuple[Path, Path] | None) -> Any:
    if pair is None:
        return grpc.ssl_channel_credentials(root.read_bytes())
    certificate, key = pair
    return grpc.ssl_channel_credentials(
        root.read_bytes(), key.read_bytes(), certificate.read_bytes()
    )


def test_a_client_of_the_authority_is_let_in(
    tls_server: Server,
    authority: Authority,
    proto: SimpleNamespace,
    election_ids: Iterator[int],
) -> None:
    given = credentials(authority.certificate, authority.vouch_for("client"))
    client = Client(tls_server.address, proto, next(election_ids), given)
    try:
        assert client.open().arbitration.status.code == 0
        client.set_config("VERIFY_AND_COMMIT", client.get_config())
        client.write(client.update("INSERT", table_entry=forward(client)))
        assert len(list(client.entries("forward"))) == 1
    finally:
        client.close()


@pytest.mark.parametrize("kind", ["plain text", "no certificate", "another authority", "expired"])
def test_others_get_no_answer(
    tls_server: Server,
    authority: Authority,
    client: Client,
    tmp_path: Path,
    kind: str,
) -> None:
    """To no call: neither the program nor an entry is told, and nothing is written."""
    pairs = {
        "no certificate": None,
        "another authority": Authority(tmp_path, "stranger").vouch_for("strangers-client"),
        "expired": authority.vouch_for("old-client", days=-1),
    }
    given = None if kind == "plain text" else credentials(authority.certificate, pairs[kind])
    stranger = Client(tls_server.address, client.proto, 2**60, given)
    config, entry = client.get_config(), forward(client)
    calls: dict[str, Callable[[], Any]] = {
        "StreamChannel": stranger.open,
        "SetForwardingPipelineConfig": lambda: stranger.set_config("VERIFY_AND_COMMIT", config),
        "GetForwardingPipelineConfig": stranger.get_config,
        "Write": lambda: stranger.write(client.update("INSERT", table_entry=entry)),
        "Read": lambda: stranger.read(client.proto.Entity(table_entry=client.proto.TableEntry())),
        "Capabilities": stranger.capabilities,
    }
    try:
        for name, call in calls.items():
            with pytest.raises(CallError) as failed:
                call()
            assert failed.value.code.name == "UNAVAILABLE", name
    finally:
        stranger.close()
    assert tls_server.command("stats")["clients"] == 0
    assert list(client.entries("forward")) == []


@pytest.mark.parametrize("rank", ["a backup", "no client", "of another role"])
def test_whoever_is_not_primary_changes_nothing(
    connect: Connect, client: Client, rank: str
) -> None:
    """What is only read is answered to whoever reaches the server."""
    other = connect(client.election_id - 1)
    if rank == "a backup":
        other.open()
    elif rank == "of another role":
        other.open(role="another")
    config, entry = client.get_config(), forward(client)
    for call in (
        lambda: other.write(client.update("INSERT", table_entry=entry)),
        *(
            lambda action=action: other.set_config(action, config)
            for action in ("VERIFY", "VERIFY_AND_SAVE", "VERIFY_AND_COMMIT", "RECONCILE_AND_COMMIT")
        ),
        lambda: other.set_config("COMMIT", None),
    ):
        with pytest.raises(CallError) as failed:
            call()
        assert failed.value.code.name == "PERMISSION_DENIED"
    assert other.get_config() == config
    assert other.capabilities().p4runtime_api_version
    assert list(other.entries("forward")) == []


def test_beyond_the_loopback_certificates_are_needed(
    start_server: Any, switch: SoftswitchTarget
) -> None:
    status, complaint = start_server(switch, "--address", "192.0.2.1")
    assert status == 1
    assert "--address 192.0.2.1: beyond the loopback" in complaint
    assert "--tls-certificate, --tls-key and --tls-client-ca" in complaint


def test_certificates_are_given_together(
    start_server: Any, switch: SoftswitchTarget, authority: Authority
) -> None:
    status, complaint = start_server(switch, "--tls-client-ca", str(authority.certificate))
    assert status == 1
    assert "--tls-certificate, --tls-key and --tls-client-ca are given together" in complaint


def test_a_file_that_is_no_certificate_is_named(
    start_server: Any, switch: SoftswitchTarget, tmp_path: Path
) -> None:
    path = tmp_path / "nothing.pem"
    options = [f"--tls-{name}={path}" for name in ("certificate", "key", "client-ca")]
    status, complaint = start_server(switch, *options)
    assert status == 1
    assert str(path) in complaint
