"""The traces of workload-analyze against a second implementation of docs/workloads.md."""

from __future__ import annotations

import json
import math
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

MASK = 2**64 - 1
SEED, ROUND = 7, 3
VALUE_BYTES = 48


def fnv(value: int) -> int:
    hashed = 0xCBF29CE484222325
    for byte in struct.pack("<Q", value):
        hashed = ((hashed ^ byte) * 1099511628211) & MASK
    return hashed if hashed < 2**63 else 2**64 - hashed


def splitmix(state: int) -> tuple[int, int]:
    state = (state + 0x9E3779B97F4A7C15) & MASK
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return state, z ^ (z >> 31)


def random_words(client: int) -> Iterator[int]:
    hashed = splitmix(SEED)[1]
    hashed = splitmix(hashed ^ ROUND)[1]
    state = splitmix(hashed ^ client)[1]
    s = []
    for _ in range(4):
        state, word = splitmix(state)
        s.append(word)
    while True:
        yield _rotl(s[1] * 5 & MASK, 7) * 9 & MASK
        t = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = _rotl(s[3], 45)


def _rotl(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & MASK


def zipfian(u: float, items: int, zetan: float, theta: float = 0.99, eta_items: int = 0) -> int:
    second = 1 + 0.5**theta
    if u * zetan < 1:
        return 0
    if u * zetan < second:
        return 1
    eta = (1 - math.pow(2 / (eta_items or items), 1 - theta)) / (1 - second / zetan)
    return int(items * math.pow(eta * u - eta + 1, 1 / (1 - theta)))


class Client:
    """One logical client, following the page word by word."""

    def __init__(self, profile: dict, client: int) -> None:
        self.profile, self.client = profile, client
        self.words = random_words(client)
        self.inserts = 0
        self.zeta = [0.0]

    def trace(self, length: int) -> bytes:
        requests: list[tuple[int, int]] = []
        while len(requests) < length:
            kind = self.transaction()
            if kind == "insert":
                requests.append((1, self.inserted()))
                continue
            key = self.chosen(len(requests))
            optypes = {"read": [0x30], "update": [1], "read_modify_write": [0x30, 1]}[kind]
            requests += [(optype, key) for optype in optypes]
        return b"".join(self.record(*request) for request in requests[:length])

    def unit(self) -> float:
        return (next(self.words) >> 11) * 2**-53

    def transaction(self) -> str:
        u = self.unit()
        for kind in ("read", "update", "insert", "read_modify_write"):
            share = self.profile["proportions"].get(kind, 0)
            if share and u < share:
                return kind
            u -= share
        raise AssertionError(u)

    def chosen(self, position: int) -> int:
        records, clients = self.profile["records"], self.profile["clients"]
        turn = position * clients + self.client
        last = records - 1 + int(turn * self.profile["proportions"].get("insert", 0))
        while (number := self.candidate(records, last)) > last:
            pass
        return fnv(number)

    def candidate(self, records: int, last: int) -> int:
        if self.profile["distribution"] == "uniform":
            word = next(self.words)
            return min(word, 2**64 - word) % records
        if self.profile["distribution"] == "latest":
            while len(self.zeta) <= last:
                self.zeta.append(self.zeta[-1] + 1 / math.pow(len(self.zeta), 0.99))
            return last - zipfian(self.unit(), last, self.zeta[last], eta_items=records - 1)
        return fnv(zipfian(self.unit(), 10**10 + 1, 26.46902820178302)) % (records + 1)

    def inserted(self) -> int:
        number = self.inserts * self.profile["clients"] + self.client
        self.inserts += 1
        records = self.profile["records"]
        load = self.profile["distribution"] == "sequential"
        return fnv(number % records if load else records + number)

    @staticmethod
    def record(optype: int, key: int) -> bytes:
        low, high = key & 0xFFFFFFFF, key >> 32
        wire = struct.pack(">HQIHH", optype, 0, low, high & 0xFFFF, high >> 16)
        return wire + (struct.pack(">I", VALUE_BYTES) if optype == 1 else b"")


PROFILES = {
    "workloada": ("zipfian", {"read": 0.5, "update": 0.5}),
    "workloadd": ("latest", {"read": 0.95, "insert": 0.05}),
    "workloadf": ("zipfian", {"read": 0.5, "read_modify_write": 0.5}),
    "workload-load": ("sequential", {"insert": 1}),
    "uniform": ("uniform", {"update": 1}),
}


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("records", [10, 5000])
def test_files_agree_with_the_model(
    workload_analyze: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    name: str,
    records: int,
) -> None:
    distribution, proportions = PROFILES[name]
    profile = {
        "distribution": distribution,
        "proportions": proportions,
        "records": records,
        "clients": 3,
    }
    options = {"records": records, "clients": 3, "operations": 6001, "seed": SEED, "round": ROUND}
    arguments = [f"--{option}={value}" for option, value in options.items()]
    directory = tmp_path / "traces"
    done = workload_analyze(
        *("--workload", name, *arguments, f"--value-bytes={VALUE_BYTES}"),
        *("--trace", str(directory), "--head-ranks", "1000"),
    )
    assert done.returncode == 0, done.stderr
    manifest = json.loads((directory / "manifest.json").read_text())
    assert [entry["operations"] for entry in manifest["files"]] == [2001, 2000, 2000]
    for entry in manifest["files"]:
        content = (directory / entry["file"]).read_bytes()
        assert content == Client(profile, entry["client"]).trace(entry["operations"])
        assert entry["crc32"] == zlib.crc32(content)
        assert entry["size_bytes"] == len(content)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--workload", "workloadx"], ["workloadx", "workloada"]),
        (["--workload", "workloada", "--scales", "24"], ["scale 24", "power of two"]),
        (["--workload", "workloada", "--theta", "1"], ["theta", "below 1"]),
        (["--workload", "workloada", "--records", "0"], ["records", "from 1"]),
        (["--workload", "workloada", "--records", "5", "--cached", "6"], ["6", "at most the 5"]),
        (["--workload", "workloade", "--records", "5", "--trace"], ["workloade", "scans"]),
        (["--workload", "workloada", "--format", "xml"], ["xml"]),
        ([], ["--workload"]),
    ],
)
def test_wrong_arguments_are_explained(
    workload_analyze: Callable[..., subprocess.CompletedProcess[str]],
    arguments: list[str],
    words: list[str],
) -> None:
    done = workload_analyze(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    for word in words:
        assert word in done.stderr
