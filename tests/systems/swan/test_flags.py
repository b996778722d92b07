"""Flags of `swan`: their notation, what they become, what is refused, files and environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turntable.systems.swan import flags
from turntable.systems.swan.command import places, settings, words
from turntable_core.errors import InputError, TurntableError

from .measured import PARAMETERS


def test_flags_as_go_has_them() -> None:
    read = words.read(
        ["-a", "1", "--b-c=2", "-config_dump", "-e", "x=1", "-e=y=2", "-a=3"], ["config_dump"]
    )
    assert read.flags == {"a": "3", "b_c": "2"}
    assert (read.switches, read.extra) == ({"config_dump"}, ["x=1", "y=2"])
    for wrong in (["word"], ["-a"], ["--"]):
        with pytest.raises(InputError):
            words.read(wrong, [])


@pytest.mark.parametrize(
    ("text", "seconds"), {"15s": 15, "1m30s": 90, "500ms": 0.5, "7": 7, "1h": 3600}.items()
)
def test_durations(text: str, seconds: float) -> None:
    assert flags.duration_s(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["15 s", "s", "1x", "1m30"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(TurntableError, match="expected a duration such as 15s or 1m30s"):
        of(experiment_load_duration=text)


def of(**texts: str) -> dict[str, Any]:
    return settings.parameters({n: settings.Setting(t, "here") for n, t in texts.items()})


def test_flags_become_parameters() -> None:
    assert of(
        experiment_slo="500",
        experiment_load_duration="1m30s",
        experiment_repetitions="5",
        experiment_be_workloads="None,stress-ng-cache-l3,stress-ng-memcpy",
        mutilate_master_keysize="30",
        mutilate_master_valuesize="normal:200:10",
        mutilate_update="0.5",
        isolation="none,shares",
    ) == {
        "slo_us": 500,
        "measure_s": 90,
        "rounds": 5,
        "aggressors": "stress-ng-cache-l3+stress-ng-memcpy",
        "key_size": "30",
        "value_size": "normal:200:10",
        "update": 0.5,
        "isolation": "none,shares",
    }


def test_ranges_of_cpus_are_a_layout_by_hand() -> None:
    assert of(experiment_hp_workload_cpu_range="", experiment_slo="1") == {"slo_us": 1}
    assert of(experiment_hp_workload_cpu_range="0-2") == {"layout": "manual", "hp_cpus": "0-2"}
    assert of(experiment_hp_workload_cpu_range="0", layout="automatic")["layout"] == "automatic"


@pytest.mark.parametrize(
    ("name", "instead"),
    {
        "cassandra_address": "swan.sqlite",
        "influxdb_port": "swan.sqlite",
        "snapteld_address": "no Snap is needed",
        "kubernetes": "isolation is -isolation",
        "kubernetes_kubeconfig": "run as processes",
        "remote_ssh_user": "inventory",
        "experiment_mutilate_agent_addresses": "group `clients` of the inventory",
        "mutilate_agent_port": "control network",
        "mutilate_master_qps": "mcload",
        "stressng_stream_process_number": "be_processes",
        "caffe_model": "scikit-learn",
        "experiment_stop_on_error": "max_attempts",
    }.items(),
)
def test_flags_without_a_meaning_are_refused_with_what_to_use(name: str, instead: str) -> None:
    with pytest.raises(TurntableError, match=f"here: {name} has no meaning here: .*{instead}"):
        of(**{name: "9042"})
    assert of(**{name: "false"}) == {}  # off, as Swan's own dumps have it


def test_all_that_is_refused_is_said_at_once() -> None:
    with pytest.raises(TurntableError) as refused:
        of(cassandra_port="9042", experiment_slow="5", experiment_slo="fast")
    text = str(refused.value)
    assert "cassandra_port has no meaning" in text
    assert "did you mean 'experiment_slo'?" in text
    assert "experiment_slo: 'fast' is not accepted; expected a number" in text


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_what_no_comparison_refuses_is_no_number(text: str) -> None:
    """NaN is neither below a minimum nor above a maximum."""
    with pytest.raises(TurntableError, match=f"experiment_slo: '{text}' is not accepted"):
        of(experiment_slo=text)


def test_flag_before_environment_before_file_before_experiment(tmp_path: Path) -> None:
    file = tmp_path / "config.ini"
    file.write_text("# comment\n\nEXPERIMENT_SLO=1\nMUTILATE_RECORDS = '100'\nSEED=5\n")
    environ = {"SWAN_EXPERIMENT_SLO": "2", "SWAN_SEED": "6", "HOME": "/"}
    found = settings.combined({"experiment_slo": "3"}, environ, file)
    assert {name: one.text for name, one in found.items()} == {
        "experiment_slo": "3",
        "mutilate_records": "100",
        "seed": "6",
    }
    assert found["mutilate_records"].where == f"{file}:4"
    assert found["seed"].where == "environment variable SWAN_SEED"


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(TurntableError, match="cannot be read"):
        settings.of_file(tmp_path / "missing")
    (tmp_path / "wrong").write_text("EXPERIMENT_SLO\n")
    with pytest.raises(InputError, match="wrong:1: line: 'EXPERIMENT_SLO'"):
        settings.of_file(tmp_path / "wrong")


def test_a_dump_reads_back(tmp_path: Path) -> None:
    flagged = {flag.parameter for flag in flags.FLAGS.values()} & PARAMETERS.keys()
    texts = flags.of_parameters({name: [PARAMETERS[name]] for name in flagged}, 3)
    file = tmp_path / "config.ini"
    file.write_text(settings.dump(texts, "title"))
    back = settings.parameters(settings.of_file(file))
    expected = {n: PARAMETERS[n] for n in flagged if PARAMETERS[n] != ""}
    assert back == expected | {"rounds": 3}
    assert "# SLO of the percentile, in microseconds\nEXPERIMENT_SLO=5000\n" in file.read_text()


def test_the_page_names_every_flag() -> None:
    page = (places.REPOSITORY / "docs" / "swan-store.md").read_text()
    assert [flag.name for flag in flags.FLAGS.values() if f"`{flag.name}`" not in page] == []
