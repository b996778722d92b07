"""What is read of an example and of what PTF says, with files written by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .__main__ import main
from .environment import PARTS, Ended, last_error, why_failed
from .examples import examples

HERE = Path(__file__).parent


@pytest.fixture
def studio(tmp_path: Path) -> Path:
    root = tmp_path / "pkgsrc" / "p4-examples" / "p4_16_programs"
    for name in ("tna_a", "tna_b", "t2na_c", "without_test"):
        (root / name).mkdir(parents=True)
        (root / name / f"{name}.p4").touch()
        if name != "without_test":
            (root / name / "test.py").touch()
    link = {"device_port": 130, "veth1": 8, "veth2": 9, "conn_id": 2}
    (root / "tna_b" / "ports.json").write_text(json.dumps({"PortToVeth": [link]}))
    return tmp_path


def test_examples_for_tofino_1_with_their_ports(studio: Path) -> None:
    first, second = examples(studio, [])
    assert (first.name, second.name) == ("tna_a", "tna_b")
    assert first.ports[16] == ("veth32", "veth33")
    assert first.ports[64] == ("veth250", "veth251")
    assert first.interfaces[16] == "veth33"
    assert second.ports == {130: ("veth8", "veth9")}
    assert second.interfaces == {130: "veth9;device_port=130;veth1=8;veth2=9;conn_id=2"}
    assert [each.name for each in examples(studio, ["tna_b"])] == ["tna_b"]


def test_how_many_pipes_an_example_sees(studio: Path) -> None:
    root = studio / "pkgsrc" / "p4-examples" / "p4_16_programs"
    (root / "tna_a").rename(root / "tna_port_metadata")
    (root / "tna_port_metadata" / "tna_a.p4").rename(
        root / "tna_port_metadata" / "tna_port_metadata.p4"
    )
    pipes = {each.name: each.pipes for each in examples(studio, [])}
    assert pipes == {"tna_b": 1, "tna_port_metadata": 4}


def test_packets_are_scapys_but_for_tests_that_need_the_sdes(studio: Path) -> None:
    root = studio / "pkgsrc" / "p4-examples" / "p4_16_programs"
    (root / "tna_a").rename(root / "tna_dyn_hashing")
    (root / "tna_dyn_hashing" / "tna_a.p4").rename(root / "tna_dyn_hashing" / "tna_dyn_hashing.p4")
    packets = {each.name: each.packets for each in examples(studio, [])}
    assert packets == {"tna_b": "ptf.packet_scapy", "tna_dyn_hashing": "bf_pktpy.ptf.packet_pktpy"}


def test_tests_find_what_python_3_10_could(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text((HERE / "older_python.py").read_text())
    code = "import random; print(sorted(random.sample({1, 2, 3}, 3)), len(random.sample([4], 1)))"
    command = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(tmp_path)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == "[1, 2, 3] 1\n"


def test_the_last_error_is_told_with_what_the_client_says_of_it() -> None:
    said = """\
ValueError: an earlier one

Traceback (most recent call last):
  File "test.py", line 5
bfrt_grpc.client.BfruntimeReadWriteRpcException: Error(s):
        * At index 0: NOT_FOUND, 'no entry'

----------------------------------------------------------------------
FAILED (errors=1)
"""
    assert last_error(said) == (
        "bfrt_grpc.client.BfruntimeReadWriteRpcException: Error(s): "
        "* At index 0: NOT_FOUND, 'no entry'"
    )
    assert last_error("what\nis this\n") == "is this"
    assert last_error("") == "nothing said"


SUMMARY = "-" * 70 + "\nRan 1 test in 0.1s\n\n"


@pytest.mark.parametrize(
    ("status", "said", "reason"),
    [
        (0, SUMMARY + "OK\n", ""),
        (
            1,
            f"OK, the table is full\nValueError: no\n{SUMMARY}FAILED (errors=1)\n",
            "ValueError: no",
        ),
        (
            1,
            "OK\nModuleNotFoundError: No module named 'x'\n",
            "ModuleNotFoundError: No module named 'x'",
        ),
        (0, SUMMARY + "OK (skipped=1)\n", "OK (skipped=1)"),
    ],
)
def test_a_test_passes_only_if_ptf_says_so(status: int, said: str, reason: str) -> None:
    assert why_failed(Ended(status, said)) == reason


def parts(root: Path, *but: Path) -> Path:
    """A checkout with the directories that are needed, without some of them."""
    for part in set(PARTS) - set(but):
        (root / part).mkdir(parents=True, exist_ok=True)
    return root


def usage_error(capsys: pytest.CaptureFixture[str], studio: Path, python: str = "/bin/sh") -> str:
    with pytest.raises(SystemExit, match="2"):
        main(["--studio", str(studio), "--python", python])
    return capsys.readouterr().err


def test_a_checkout_without_tests_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "none of its examples has a test.py" in usage_error(capsys, parts(tmp_path))


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_a_checkout_without_a_part_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], part: Path
) -> None:
    said = usage_error(capsys, parts(tmp_path, part))
    assert f"{tmp_path}: no {part} in it; expected a checkout of " in said
    assert "github.com/p4lang/open-p4studio (docs/others-tests.md)" in said


def test_an_environment_without_its_packages_is_wrong_usage(
    studio: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    parts(studio)
    said = usage_error(capsys, studio)  # no Python at all
    assert "--python /bin/sh: it has no ptf, scapy, grpc, grpc_tools, google.rpc, six" in said
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')  # without site-packages
    bare.chmod(0o755)
    said = usage_error(capsys, studio, str(bare))
    assert f"--python {bare}: it has no ptf, scapy, grpc, grpc_tools, google.rpc, six" in said
    assert "expected an environment made as docs/others-tests.md says" in said
