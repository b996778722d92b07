"""What an SDE installs for its PTF tests, made from a checkout of open-p4studio: the client of BF
Runtime as `bfrt_grpc`, the base classes as `p4testutils`; and PTF run with it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from .examples import EXAMPLES, Example
from .testbed import Links

BFRT = Path("pkgsrc/bf-drivers/src/bf_rt")
CLIENT = BFRT / "bfruntime_grpc_client" / "python"
BASE_CLASSES = Path("pkgsrc/ptf-modules/ptf-utils")
PARTS = (EXAMPLES, CLIENT, BFRT / "proto", BASE_CLASSES)  # of a checkout
_MODULES = ("ptf", "scapy", "grpc", "grpc_tools", "google.rpc", "six")
# As the SDE's run_ptf_tests.py says to the tests.
PARAMETERS = {
    "arch": "tofino", "target": "asic-model", "test_seed": "1",
    "pkt_size": "100", "port_mode": "100g", "counter_byte_adjust": "0", "use_pi": "False",
    "traffic_gen": "None", "drivers_test_info": "None", "config_file": "", "reboot": "none",
    "thrift_server": "localhost", "grpc_server": "localhost", "bfrt_grpc_port": "50052",
}  # fmt: skip


LISTING_TIMEOUT_S = 300
REASON_CHARACTERS = 200


class Ended(NamedTuple):
    """What became of a run of PTF."""

    status: int
    said: str


class ImportFailedError(Exception):
    """A test.py that cannot be imported; why."""


class Environment:
    def __init__(self, python: Path, studio: Path, directory: Path) -> None:
        """Raises CalledProcessError where grpc_tools does not compile BF Runtime's messages."""
        self._python = python
        self._path = directory / "python"
        self._own_packets = studio / "pkgsrc/ptf-modules/bf-pktpy"
        client = self._path / "bfrt_grpc"
        shutil.copytree(studio / CLIENT, client)
        shutil.copytree(studio / BASE_CLASSES, self._path / "p4testutils")
        for package in (client, self._path / "p4testutils"):
            (package / "__init__.py").touch()
        shutil.copy(Path(__file__).with_name("older_python.py"), self._path / "sitecustomize.py")
        subprocess.run(
            [
                python, "-m", "grpc_tools.protoc", f"-I{self._site_packages()}",
                f"-I{studio / BFRT / 'proto'}", f"--python_out={client}",
                f"--grpc_python_out={client}", "bfruntime.proto",
            ],
            check=True,
        )  # fmt: skip

    def _site_packages(self) -> str:
        """Where googleapis-common-protos has its .proto files."""
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        return subprocess.check_output([self._python, "-c", code], text=True).strip()

    def classes(self, example: Example, links: Links) -> list[str]:
        """Names of an example's tests, in the order of the file. Raises ImportFailedError."""
        text = (example.directory / "test.py").read_text()
        written = re.findall(r"^class (\w+)", text, flags=re.MULTILINE)
        listed = self._ptf(example, links, "--list-test-names", timeout_s=LISTING_TIMEOUT_S)
        names = {line.strip().rpartition(".")[2] for line in listed.said.splitlines()}
        found = [name for name in written if name in names]
        if not found:
            raise ImportFailedError(last_error(listed.said))
        return found

    def failure(self, example: Example, links: Links, name: str, timeout_s: float) -> str:
        """Runs one test; the last line that says why it failed, or nothing."""
        try:
            ended = self._ptf(example, links, f"test.{name}", timeout_s=timeout_s)
        except subprocess.TimeoutExpired:
            return f"did not end within {timeout_s:.0f} s"
        return why_failed(ended)

    def _ptf(self, example: Example, links: Links, *words: str, timeout_s: float) -> Ended:
        parameters = PARAMETERS | {"p4_name": example.name, "num_pipes": str(example.pipes)}
        command = links.inside(
            self._python, self._python.parent / "ptf", "--test-dir", example.directory,
            "--test-params", ";".join(f"{name}='{value}'" for name, value in parameters.items()),
            *(f"--interface={port}@{end}" for port, end in example.interfaces.items()),
            "--socket-recv-size", "10240", *words,
        )  # fmt: skip
        packages = [self._path / "bfrt_grpc", self._path / "p4testutils"]
        path = [self._path, *packages, example.directory.parent, self._own_packets]
        result = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._path,  # PTF writes its log there
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join(map(str, path)),
                "PTF_PACKET_MANIPULATION_MODULE": example.packets,
            },
            timeout=timeout_s,
            check=False,
        )
        (self._path / f"{example.name}.log").write_text(result.stdout)
        return Ended(result.returncode, result.stdout)


def missing_modules(python: Path) -> list[str]:
    """Of those that every example needs, which an environment has not: a program that is no Python
    has none.
    """
    code = (
        "import importlib.util, sys\n"
        "def has(name):\n"
        "    try:\n"
        "        return importlib.util.find_spec(name) is not None\n"
        "    except ImportError:\n"
        "        return False\n"
        "print(*(name for name in sys.argv[1:] if not has(name)))"
    )
    done = subprocess.run(
        [python, "-c", code, *_MODULES], capture_output=True, text=True, check=False
    )
    return done.stdout.split() if done.returncode == 0 else list(_MODULES)


def why_failed(ended: Ended) -> str:
    """Of a run of one test, or nothing. What a test itself prints does not pass it, nor does one
    that was skipped.
    """
    verdict = re.findall(r"^(?:OK|FAILED)\b.*$", ended.said, flags=re.MULTILINE)[-1:]
    if ended.status == 0 and verdict == ["OK"]:
        return ""
    if ended.status == 0 and verdict and verdict[0].startswith("OK"):
        return verdict[0]
    return last_error(ended.said)


def last_error(said: str) -> str:
    """In one line; the client tells in further ones what was wrong with which update."""
    errors = re.findall(
        r"^[\w.]*(?:Error|Exception)\b.*(?:\n(?!-{10}|$).+){0,2}", said, flags=re.MULTILINE
    )
    words = errors[-1].split() if errors else said.strip().splitlines()[-1:]
    return " ".join(words)[:REASON_CHARACTERS] or "nothing said"
