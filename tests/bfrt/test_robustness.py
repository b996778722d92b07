"""Clients that misbehave, a switch that ends, many clients at once."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import grpc
import pytest
from packet.live_switch import SoftswitchTarget

from .client import DEADLINE_S, CallError, Client
from .conftest import PROGRAM, Server, StartSwitch
from .test_tables import FRAME, insertion

# More than the buffers of a connection and the server's own queue of a client can hold.
FLOOD = 20_000


@pytest.fixture
def own_switch(start_switch: StartSwitch) -> Iterator[SoftswitchTarget]:
    target = start_switch()
    yield target
    target.close()


@pytest.fixture
def own_server(build_dir: Path, own_switch: SoftswitchTarget) -> Iterator[Server]:
    running = Server(build_dir / "bin" / "bfrt-server", own_switch.directory)
    yield running
    if running.process.poll() is None:
        running.close()


_made: list[Client] = []


@pytest.fixture(autouse=True)
def no_client_stays() -> Iterator[None]:
    """A test that fails leaves no program bound for the next one."""
    yield
    while _made:
        _made.pop().cut()


def bound(address: str, proto: SimpleNamespace, client_id: int) -> Client:
    client = Client(address, proto, client_id)
    _made.append(client)
    client.open()
    client.bind()
    return client


def eventually(check: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not check():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.01)


def test_a_client_that_does_not_read_its_stream_holds_nobody_up(
    own_server: Server, own_switch: SoftswitchTarget, proto: SimpleNamespace
) -> None:
    deaf = Client(own_server.address, proto, 1)
    deaf.open(reads=False, enable_learn_notifications=True)
    eventually(lambda: bool(own_server.command("stats")["clients"]))
    deaf.bind()
    sender = own_switch._links.sockets[1]
    for _ in range(FLOOD):
        sender.send(FRAME)
    eventually(lambda: own_switch.command("digest_read", max=0)["waiting"] == 0)
    other = Client(own_server.address, proto, 2)
    other.open()
    # It owns the program, and writes, while its stream is full.
    deaf.write_updates([insertion(deaf, 1, 1)])
    assert deaf.usage("forward") == 1
    own_server.close()
    assert own_server.process.returncode == 0
    deaf.cut()
    other.cut()


def test_the_end_of_the_server_is_told(own_server: Server, proto: SimpleNamespace) -> None:
    client = bound(own_server.address, proto, 1)
    own_server.close()
    end = client.message()
    assert isinstance(end, grpc.RpcError)
    assert end.code() == grpc.StatusCode.UNAVAILABLE
    client.cut()


def test_a_client_that_is_gone_gives_its_id_and_program_back(
    server: Server, proto: SimpleNamespace
) -> None:
    client = bound(server.address, proto, 40)
    client.cut()

    def is_free() -> bool:
        with contextlib.suppress(CallError):
            successor = bound(server.address, proto, 40)
            successor.close()
            return True
        return False

    eventually(is_free)


KILLED = """
import os, sys
from bfrt import messages
from bfrt.client import Client
from bfrt.test_tables import insertion
from pathlib import Path
client = Client(sys.argv[1], messages.load(Path(sys.argv[2])), 50)
client.open()
client.bind()
batch = [insertion(client, mac, 1) for mac in range(60000)]
print("ready", flush=True)
client.write_updates(batch)
"""


def test_a_client_killed_within_a_batch_does_no_harm(
    server: Server, proto: SimpleNamespace, build_dir: Path
) -> None:
    tests = Path(__file__).resolve().parents[1]
    environment = os.environ | {"PYTHONPATH": f"{tests}:{tests.parent / 'src'}"}
    killed = subprocess.Popen(
        [sys.executable, "-c", KILLED, server.address, str(build_dir)],
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert killed.stdout is not None
    assert killed.stdout.readline() == b"ready\n"
    watcher = Client(server.address, proto, 51)
    name = watcher.config().config[0].p4_name
    usage = watcher.proto.TableUsage(table_id=watcher.table("forward")["id"])

    def used() -> int:
        entities = [watcher.proto.Entity(table_usage=usage)]
        answer = watcher.read_entities(entities, p4_name=name)
        return int(answer.entities[0].table_usage.usage)

    eventually(lambda: used() > 0)
    killed.send_signal(signal.SIGKILL)
    killed.wait(timeout=DEADLINE_S)
    eventually(lambda: server.command("stats")["clients"] == [])
    successor = bound(server.address, proto, 50)

    def is_empty() -> bool:  # what was under way when the client was killed may still come
        successor.delete("forward")
        return successor.usage("forward") == 0

    eventually(is_empty)
    assert used() == 0
    successor.close()
    watcher.close()


def test_a_switch_that_ends_is_told_and_its_successor_served(
    own_server: Server, own_switch: SoftswitchTarget, proto: SimpleNamespace
) -> None:
    client = bound(own_server.address, proto, 1)
    client.write_updates([insertion(client, 1, 1)])
    own_switch._process.kill()
    end = client.message()
    assert isinstance(end, grpc.RpcError)
    assert end.code() == grpc.StatusCode.UNAVAILABLE
    assert "softswitch ended" in (end.details() or "")
    with pytest.raises(CallError) as failed:
        client.config()
    assert failed.value.code == grpc.StatusCode.UNAVAILABLE
    assert "the switch behind this server does not run" in failed.value.message
    own_switch.kill_and_start()
    eventually(lambda: own_server.command("stats")["program"] is not None)
    again = bound(own_server.address, proto, 1)
    assert again.usage("forward") == 0
    again.close()
    client.cut()


def test_many_clients_at_once(server: Server, proto: SimpleNamespace) -> None:
    owner = bound(server.address, proto, 100)
    owner.delete("hits")
    failures: list[BaseException] = []

    def work(number: int) -> None:
        client = Client(server.address, proto, number)
        try:
            client.open()
            client.config()
            entry = client.entry("hits", {"$REGISTER_INDEX": number}, data={"f1": number})
            for _ in range(20):
                client.write_updates([client.update("INSERT", entry)], p4_name=PROGRAM)
                entities = [client.proto.Entity(table_entry=entry)]
                answer = client.read_entities(entities, p4_name=PROGRAM)
                assert answer.entities[0].table_entry.data.fields[0].stream[-1] == number
        except BaseException as error:
            failures.append(error)
        finally:
            client.close()

    threads = [threading.Thread(target=work, args=[number]) for number in range(1, 33)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=DEADLINE_S)
    assert failures == []
    owner.close()


def test_no_more_clients_than_the_server_takes(server: Server, proto: SimpleNamespace) -> None:
    clients = [Client(server.address, proto, number) for number in range(256)]
    for client in clients:
        client.open()
    one_more = Client(server.address, proto, 256)
    with pytest.raises(CallError) as refused:
        one_more.open()
    assert refused.value.code == grpc.StatusCode.RESOURCE_EXHAUSTED
    for client in [*clients, one_more]:
        client.close()
    eventually(lambda: server.command("stats")["clients"] == [])


def test_a_message_that_is_too_long_is_refused(server: Server, proto: SimpleNamespace) -> None:
    client = bound(server.address, proto, 1)
    entry = client.entry("forward", {"hdr.ethernet.dst_addr": bytes(65 << 20)}, "send", {"port": 1})
    with pytest.raises(CallError) as refused:
        client.write_updates([client.update("INSERT", entry)])
    assert refused.value.code == grpc.StatusCode.RESOURCE_EXHAUSTED
    client.close()


def test_what_is_no_grpc_is_left(server: Server, proto: SimpleNamespace) -> None:
    host, _, port = server.address.rpartition(":")
    with socket.create_connection((host, int(port))) as stranger:
        stranger.sendall(os.urandom(1000))
    bound(server.address, proto, 1).close()


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "nowhere.example"])
def test_it_does_not_listen_on_every_network(build_dir: Path, tmp_path: Path, address: str) -> None:
    told = subprocess.run(
        [build_dir / "bin" / "bfrt-server", "--directory", tmp_path, "--address", address],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert told.returncode != 0
    assert f"--address {address}" in told.stderr
    if address != "nowhere.example":
        assert "no authentication" in told.stderr


def test_a_port_that_is_taken_is_an_error(build_dir: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        told = subprocess.run(
            [
                build_dir / "bin" / "bfrt-server",
                "--directory",
                tmp_path,
                "--port",
                str(taken.getsockname()[1]),
            ],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    assert told.returncode != 0
    assert "bfrt-server: cannot listen on 127.0.0.1:" in told.stderr
    assert "Address already in use; give it an address of this host and a --port" in told.stderr
    assert "chttp2" not in told.stderr  # gRPC's own log
