"""The command `swan`: begin, run again, list, show, compare, export."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turntable.systems.swan import flags
from turntable.systems.swan.command import again, begin, cli, places
from turntable.systems.swan.store import Store
from turntable_systems.swan.identity import experiment_uuid

from .made_run import Scripted, make_plan, make_run
from .measured import PARAMETERS

EXPERIMENT = "swan_sensitivity"
AGGRESSORS = ("placebo", "busy")


def scripted(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
    share = 60 if data["aggressor"] == "busy" else 30
    factor = (0.99, 1.0, 1.01)[(round_ + data["repeat"]) % 3]
    return Scripted(50 * share * factor * (1 + data["load"]))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def uuid(results: Path) -> str:
    make_run(results, scripted, AGGRESSORS, name="made")
    return experiment_uuid(EXPERIMENT, "made")


@pytest.mark.parametrize("name", ["list", "show", "compare", "export", "rerun", "store"])
def test_every_command_says_what_it_takes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "-h"])
    assert ended.value.code == 0
    assert "--results DIR" in capsys.readouterr().out


# --- Past experiments


def test_the_configuration_of_a_past_experiment(
    results: Path, uuid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sensitivity-profile", "-config-dump-experiment-id", uuid, "-results", str(results)]
    assert cli.main(command) == 0
    dumped = capsys.readouterr().out
    assert f"# experiment {uuid}, run {EXPERIMENT}/made" in dumped
    assert "\nEXPERIMENT_BE_WORKLOADS=None,placebo,busy\n" in dumped
    assert "\nEXPERIMENT_PEAK_LOAD=10000\n" in dumped  # that was searched for
    assert "\n# -e spin_us=" in dumped  # that has no flag


# --- Begin and run again, without Ansible


class Playbook:
    """Leaves a run behind, as the playbook would; with what it was called."""

    def __init__(
        self,
        results: Path,
        status: int = 0,
        aggressors: Sequence[str] = AGGRESSORS,
        loads: Sequence[float] = (0.2, 0.5, 1.0),
        jobs: Mapping[str, Any] | None = None,
        manifest: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> None:
        self.results, self.status, self.changes = results, status, changes
        self.made = {"aggressors": aggressors, "loads": loads, "jobs": jobs, "manifest": manifest}
        self.variables: dict[str, Any] = {}
        self.command: Sequence[str] = ()

    def __call__(self, command: Sequence[str]) -> int:
        self.command = command
        self.variables = json.loads(command[command.index("-e") + 1])
        own = {name: self.variables[name] for name in PARAMETERS if name in self.variables}
        if isinstance(own.get("layout"), list):  # the only level of a factor
            (own["layout"],) = own["layout"]
        cells = [PARAMETERS | own | self.changes]
        make_run(
            self.results, scripted, **self.made, rounds=self.variables.get("rounds", 3),
            cells=cells, name=self.variables["run"],
        )  # fmt: skip
        return self.status


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever experiments there are."""
    monkeypatch.setattr(places.Experiment, "check", lambda _: None)
    monkeypatch.setattr(places.Experiment, "id", EXPERIMENT)
    monkeypatch.setattr(places.Experiment, "factors", lambda *_: {"layout"})
    defaults = flags.of_parameters({name: [value] for name, value in PARAMETERS.items()}, 3)
    monkeypatch.setattr(places.Experiment, "defaults", lambda *_: defaults)
    for name in ("SWAN_EXPERIMENT_SLO", "SWAN_SEED"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("experiment")
def test_the_uuid_comes_first_and_the_run_is_stored(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SWAN_SEED", "11")
    playbook = Playbook(results)
    said_before: list[str] = []
    monkeypatch.setattr(
        begin,
        "_play",
        lambda command: said_before.append(capsys.readouterr().out) or playbook(command),
    )
    command = ["sensitivity-profile", "-experiment_slo=4000", "--profile", "smoke", "-run", "mine"]
    status = cli.main([*command, "-e", "long=true", "-vv", "-results", str(results)])
    assert status == 0
    uuid = experiment_uuid(EXPERIMENT, "mine")
    assert said_before == [f"{uuid}\n"]
    assert playbook.variables == {
        "profile": "smoke",
        "slo_us": 4000,
        "seed": 11,
        "run": "mine",
        "turntable_results_dir": str(results),
    }
    assert playbook.command[-3:] == ["-e", "long=true", "-vv"]
    assert playbook.command[3].endswith("playbooks/swan/sensitivity.yml")
    store = Store(results)
    assert store.find(uuid).digest is not None
    assert store.metadata(uuid, "environ") == {"SWAN_SEED": "11"}
    store.close()


@pytest.mark.usefixtures("experiment")
def test_a_playbook_that_fails_keeps_what_was_measured(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(begin, "_play", Playbook(results, status=2))
    command = ["sensitivity-profile", "-run", "mine", "-results", str(results)]
    assert cli.main(command) == 2
    store = Store(results)
    assert store.find(experiment_uuid(EXPERIMENT, "mine")).digest is not None
    store.close()


@pytest.mark.usefixtures("experiment")
def test_the_dump_has_what_was_given_above_the_experiments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["sensitivity-profile", "-config-dump", "-experiment_slo=77"]) == 0
    dumped = capsys.readouterr().out
    assert "\nEXPERIMENT_SLO=77\n" in dumped and "\nSEED=20170301\n" in dumped


def rerun(results: Path, uuid: str) -> int:
    return cli.main(["rerun", uuid, "--run", "second", "--results", str(results)])


@pytest.mark.usefixtures("experiment")
def test_run_again_it_is_identical(
    results: Path, uuid: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    playbook = Playbook(results)
    monkeypatch.setattr(begin, "_play", playbook)
    assert rerun(results, uuid[:8]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first == experiment_uuid(EXPERIMENT, "second")
    assert last == f"Configuration identical with that of {uuid}"
    assert playbook.command[2].endswith("inventories/embedded-ssh")  # as before
    # Everything is said, the peak that was searched for, too.
    assert playbook.variables["peak_load"] == 10_000
    (cell,) = make_plan(AGGRESSORS, (0.2, 0.5, 1.0), 1, [{}], {}).cells
    same = cell.parameters.keys() - {"peak_load", "tune_s", "tune_repeats", "layout"}
    assert {n: playbook.variables[n] for n in same} == {n: cell.parameters[n] for n in same}
    assert playbook.variables["layout"] == ["same-core"]
    assert "tune_s" not in playbook.variables  # it says nothing where the peak is given
    assert (playbook.variables["rounds"], playbook.variables["profile"]) == (3, "smoke")


@pytest.mark.usefixtures("experiment")
def test_what_was_not_the_same_is_said(
    results: Path, uuid: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(begin, "_play", Playbook(results, records=2000))
    assert rerun(results, uuid) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"Configuration differs from that of {uuid}:",
        "records: [1000] before, [2000] now",
    ]


def test_several_cells_are_levels_of_factors(results: Path) -> None:
    cells = [{"isolation": "none", "hp_count": 1}, {"isolation": "shares", "hp_count": 2}]
    run = make_run(results, scripted, AGGRESSORS, cells=cells)
    store = Store(results)
    general = store.metadata(store.put(run))
    variables = again.variables_of(store.experiments()[0], general, {"isolation"})
    store.close()
    assert variables["isolation"] == ["none", "shares"]
    assert variables["be_shares"] == 2  # of the cell that has it
    assert "hp_count" not in variables  # follows from a factor, as the experiment says
    assert variables["peak_load"] == 10_000
    assert list(again.differences(general, general)) == []
    (said,) = again.differences(general, general | {"iterations": "0"})
    assert said.startswith("what is measured in which order, with which jobs (digest)")
    (said,) = again.differences(general, general | {"fidelity_class": "hardware"})
    assert said == "fidelity class: emulated before, hardware now"


@pytest.mark.usefixtures("experiment")
@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (["inventories/gone"], "its inventory, inventories/gone, is not there"),
        (["inventories/embedded-ssh", "more.yml"], "its inventory, more.yml, is not there"),
        ([], "its inventory is not stored"),
    ],
)
def test_another_testbed_is_not_taken_unasked(
    results: Path,
    stored: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed = {"inventories": stored}
    make_run(results, scripted, AGGRESSORS, (0.5,), name="elsewhere", manifest=changed)
    playbook = Playbook(results)
    monkeypatch.setattr(begin, "_play", playbook)
    assert rerun(results, experiment_uuid(EXPERIMENT, "elsewhere")) == 2
    refused = capsys.readouterr().err
    assert said in refused and "--inventory. Nothing was run" in refused
    assert not playbook.command


def inventories_of(command: Sequence[str]) -> list[str]:
    return [command[at + 1] for at, word in enumerate(command) if word == "-i"]


@pytest.mark.usefixtures("experiment")
def test_run_again_it_has_all_of_its_inventories(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ["inventories/embedded-ssh", "inventories/embedded-hosts", "one,two"]
    changed = {"inventories": both}
    make_run(results, scripted, AGGRESSORS, name="several", manifest=changed)
    playbook = Playbook(results, manifest=changed)
    monkeypatch.setattr(begin, "_play", playbook)
    assert rerun(results, experiment_uuid(EXPERIMENT, "several")) == 0
    at = places.REPOSITORY
    assert inventories_of(playbook.command) == [*(f"{at}/{each}" for each in both[:2]), both[2]]


@pytest.mark.usefixtures("experiment")
def test_an_inventory_that_has_changed_since_is_told(
    results: Path, uuid: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(begin, "_play", Playbook(results, manifest={"inventory_digest": "b2"}))
    assert rerun(results, uuid) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"Configuration differs from that of {uuid}:",
        "inventory, its machines, addresses and ports (digest): a1 before, b2 now",
    ]


PLACEBO = {
    "command": ["sleep", "86400"],
    "placement": "l3",
    "count": 1,
    "probe": {"kind": "alive"},
    "progress": {"kind": "none"},
    "name": "placebo",
}


@pytest.mark.usefixtures("experiment")
@pytest.mark.parametrize(
    ("change", "own", "status", "said"),
    [
        ({}, "", 0, ""),
        ({"count": 2}, "", 2, "job placebo, count: 2 before, 1 now"),
        ({"command": ["nap"]}, "", 2, 'command: ["nap"] before, ["sleep", "86400"] now'),
        ({"cache": {"level": 3}}, "", 2, 'job placebo, cache: {"level": 3} before, none now'),
        ({"name": "gone"}, "", 2, 'job gone, name: "gone" before, none now'),
        ({}, "gone.yml", 2, "gone.yml: cannot be read"),
    ],
)
def test_jobs_that_are_others_today_are_not_run(
    results: Path,
    change: Mapping[str, Any],
    own: str,
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    job = PLACEBO | change
    cells = [{"aggressors_file": own}]
    make_run(results, scripted, [job["name"]], (0.5,), cells=cells, jobs={job["name"]: job})
    playbook = Playbook(results, aggressors=[job["name"]], loads=(0.5,), jobs={job["name"]: job})
    monkeypatch.setattr(begin, "_play", playbook)
    assert rerun(results, experiment_uuid(EXPERIMENT, "made")) == status
    refused = capsys.readouterr().err
    assert bool(playbook.command) == (status == 0)
    if status:
        assert said in refused and "Nothing was run" in refused


@pytest.mark.usefixtures("experiment")
def test_a_run_that_exists_is_not_run_again_into(
    results: Path, uuid: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(begin, "_play", playbook := Playbook(results))
    assert cli.main(["rerun", uuid, "--run", "made", "--results", str(results)]) == 2
    assert "this run exists" in capsys.readouterr().err
    assert not playbook.command


@pytest.mark.usefixtures("experiment")
def test_what_format_1_of_the_store_has_can_be_run_again(
    results: Path, uuid: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whose run is gone, so that it is not stored again."""
    with closing(Store(results)) as store:
        store.put_all()
    shutil.rmtree(results / EXPERIMENT / "made")
    with closing(sqlite3.connect(results / "swan.sqlite")) as connection:
        connection.executescript(
            "DELETE FROM metadata WHERE key IN ('jobs', 'inventory_digest', 'inventories');"
            "INSERT INTO metadata SELECT id, '', 'inventory', 'inventories/embedded-ssh' "
            "FROM experiments; PRAGMA user_version = 1;"
        )
    assert cli.main(["show", uuid, "--results", str(results)]) == 0
    monkeypatch.setattr(begin, "_play", playbook := Playbook(results))
    capsys.readouterr()
    assert rerun(results, uuid) == 0
    captured = capsys.readouterr()
    assert "its jobs are not stored" in captured.err
    assert captured.out.endswith(
        f"identical with that of {uuid}; not stored then, and not compared: inventory, its "
        "machines, addresses and ports (digest)\n"
    )
    assert inventories_of(playbook.command) == [f"{places.REPOSITORY}/inventories/embedded-ssh"]


@pytest.mark.usefixtures("experiment")
def test_several_inventories_are_given_to_ansible(
    results: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a rack").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(begin, "_play", playbook := Playbook(results))
    command = ["sensitivity-profile", "-run", "mine", "-results", str(results)]
    assert cli.main([*command, "-inventory", "a rack", "-inventory=h1,h2"]) == 0
    assert inventories_of(playbook.command) == [f"{tmp_path}/a rack", "h1,h2"]
    capsys.readouterr()
    assert cli.main([*command, "-inventory=typo"]) == 2
    captured = capsys.readouterr()
    assert f"{tmp_path}/typo: no such inventory" in captured.err
    assert not captured.out  # no UUID of what will never be


@pytest.mark.usefixtures("experiment")
def test_the_store_is_closed_while_the_playbook_plays(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite removes the log when the last connection is closed."""
    left: list[str] = []
    playbook = Playbook(results)

    def play(command: Sequence[str]) -> int:
        left.extend(file.name for file in results.glob("swan.sqlite*"))
        return playbook(command)

    monkeypatch.setattr(begin, "_play", play)
    assert cli.main(["sensitivity-profile", "-run", "mine", "-results", str(results)]) == 0
    assert left == ["swan.sqlite"]


# --- What was measured


def test_list_show_compare_export(
    results: Path, uuid: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(results, scripted, AGGRESSORS, name="other")
    other = experiment_uuid(EXPERIMENT, "other")
    at = ["--results", str(results)]
    assert cli.main(["list", *at]) == 0
    assert uuid in (listed := capsys.readouterr().out) and other in listed
    assert cli.main(["show", uuid, *at]) == 0
    # 60 % of 5,000 µs times 1.2, 1.5 and 2.
    assert "\nbusy       72%  90%  120%\n" in (shown := capsys.readouterr().out)
    assert "Capacity: p99 within 5,000 µs" in shown
    assert cli.main(["show", uuid, "--absolute", "--older-rule", *at]) == 0
    assert "p99 in µs; SLO 5,000 µs, older rule" in capsys.readouterr().out
    assert cli.main(["compare", uuid, other, "--figure", str(tmp_path / "r.svg"), *at]) == 0
    assert "in 9 of 9 (100%) the 95 % interval" in capsys.readouterr().out
    assert (tmp_path / "r.svg").stat().st_size > 5_000
    for nowhere in (tmp_path / "none" / "r.svg", tmp_path / "r.foo"):
        assert cli.main(["compare", uuid, other, "--figure", str(nowhere), *at]) == 2
        assert f"{nowhere}: cannot be written" in capsys.readouterr().err
    assert cli.main(["export", uuid, "--csv", str(tmp_path / "out.csv"), *at]) == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + 45
    assert cli.main(["store", str(results / EXPERIMENT / "made"), *at]) == 0


def test_fields_that_disturbed_rounds_leave_without_an_interval_are_compared_with_all(
    results: Path, uuid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def late(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        made = scripted(parameters, data, round_)
        disturbed = data["aggressor"] == "busy" and round_ > 0
        return replace(made, client={"misses": 1}) if disturbed else made

    make_run(results, late, AGGRESSORS, name="other")
    both = [uuid, experiment_uuid(EXPERIMENT, "other"), "--results", str(results)]
    assert cli.main(["compare", *both]) == 0
    # busy at three loads has one round that counts.
    said = capsys.readouterr().out
    assert "in 6 of 6 (100%)" in said and "; without an interval: 3" in said
    assert cli.main(["compare", "--all", *both]) == 0
    assert "in 9 of 9 (100%)" in capsys.readouterr().out


def test_compared_experiments_that_were_configured_otherwise_are_said_to_be(
    results: Path, uuid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(results, scripted, AGGRESSORS, name="same")
    make_run(results, scripted, AGGRESSORS, name="other", cells=[PARAMETERS | {"records": 2000}])
    for name, said in (
        ("same", ""),
        ("other", "Their configurations differ:\n  records: [1000] before, [2000] now\n"),
    ):
        second = experiment_uuid(EXPERIMENT, name)
        assert cli.main(["compare", uuid, second, "--results", str(results)]) == 0
        assert capsys.readouterr().out.partition("Their")[1:] == (
            ("Their", said.removeprefix("Their")) if said else ("", "")
        )


def test_what_was_not_measured_is_shown_as_planned(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [{"isolation": "none"}, {"isolation": "nice"}, {"isolation": "idle"}]
    part = make_run(
        results, scripted, AGGRESSORS, name="part", cells=cells,
        leave_out=lambda data: data["aggressor"] == "busy" or data["load"] == 1.0,
    )  # fmt: skip
    lines = (part / "journal.ndjson").read_text().splitlines(keepends=True)
    idle = make_plan(AGGRESSORS, (0.2, 0.5, 1.0), 1, cells, {}).cells[2].id
    (part / "journal.ndjson").write_text("".join(line for line in lines if idle not in line))
    uuid = experiment_uuid(EXPERIMENT, "part")
    assert cli.main(["show", uuid, "--results", str(results)]) == 0
    shown = capsys.readouterr().out
    busy = [line.split() for line in shown.splitlines() if line.startswith("busy")]
    assert busy[0] == ["busy", "N/A", "N/A", "N/A"]
    (baseline, *_) = [line.split() for line in shown.splitlines() if line.startswith("Baseline")]
    assert baseline[-1] == "N/A" and baseline[1] != "N/A"
    assert shown.splitlines()[-1] == "Nothing was measured of: isolation idle"


def test_the_list_says_what_of_a_run_is_measured(
    results: Path, uuid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(
        results, scripted, AGGRESSORS, name="half", leave_out=lambda it: it["aggressor"] == "busy"
    )
    assert cli.main(["list", "--results", str(results)]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert lines[uuid].endswith("complete")
    # 3 baselines, placebo and busy at 3 loads in 3 rounds, without busy.
    assert lines[experiment_uuid(EXPERIMENT, "half")].endswith("36 of 45 iterations")


def test_an_error_says_what_and_ends_with_2(
    results: Path, uuid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["show", "00000000", "--results", str(results)]) == 2
    assert "no experiment with the UUID '00000000'" in capsys.readouterr().err
    empty = make_run(results, scripted, AGGRESSORS, name="empty", leave_out=lambda _: True)
    assert (
        cli.main(["show", experiment_uuid(EXPERIMENT, empty.name), "--results", str(results)]) == 2
    )
    assert "nothing of it is stored" in capsys.readouterr().err
    assert cli.main(["list", "--results", str(results / "typo")]) == 2
    assert "typo: no such directory, so nothing was measured" in capsys.readouterr().err
    assert not (results / "typo").exists()
    nowhere = str(results / "none" / "out.csv")
    assert cli.main(["export", uuid, "--csv", nowhere, "--results", str(results)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_run_that_cannot_be_read_is_said_to_be(
    results: Path, uuid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    older = make_run(results, scripted, AGGRESSORS, (0.5,), name="older")
    plan = (older / "plan.json").read_text()
    (older / "plan.json").write_text(plan.replace("drain_s", "of_another_version"))
    made = results / EXPERIMENT / "made"
    assert cli.main(["store", str(older), str(made), "--results", str(results)]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"swan: not stored: {older}: cannot be read as a run: KeyError")
    assert captured.err.count("not stored") == 1
    assert captured.out == f"{results / 'swan.sqlite'}: 1 experiments\n"


def test_a_configuration_file_that_is_no_text_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config").write_bytes(b"SLO=\xff")
    assert cli.main(["sensitivity-profile", "-config", str(tmp_path / "config")]) == 2
    assert "config: cannot be read: it is no text in UTF-8" in capsys.readouterr().err


def test_an_export_goes_through_links(
    results: Path, uuid: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As /dev/stdout is one, which must stay one."""
    (tmp_path / "out").write_text("before")
    for name, target in (("link", tmp_path / "out"), ("full", "/dev/full")):
        (tmp_path / name).symlink_to(target)
    at = ["--results", str(results)]
    assert cli.main(["export", uuid, "--csv", str(tmp_path / "link"), *at]) == 0
    assert (tmp_path / "out").read_text().startswith("phase,cell_label,aggressor")
    assert cli.main(["export", uuid, "--csv", str(tmp_path / "full"), *at]) == 2
    assert "full: cannot be written: No space left on device" in capsys.readouterr().err
    assert (tmp_path / "link").is_symlink() and (tmp_path / "full").is_symlink()


def test_show_needs_nothing_but_the_store(
    results: Path, uuid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(results)
    store.put_all()
    store.close()
    (results / EXPERIMENT / "made").rename(results / "moved")
    assert cli.main(["show", uuid, "--results", str(results)]) == 0
    assert "busy       72%  90%  120%" in capsys.readouterr().out
