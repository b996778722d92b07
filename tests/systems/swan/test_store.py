"""The store: Swan's tables, stored again without a change, exported."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import pytest
from hdrh.histogram import HdrHistogram

from turntable.load import load_run
from turntable.results import Run
from turntable.systems.swan import store
from turntable.systems.swan.store import Store, export
from turntable.systems.swan.store.rows import MCLOAD, metrics
from turntable_core import caller
from turntable_core.errors import TurntableError
from turntable_systems.swan.identity import experiment_uuid, uuid_of

from .made_run import Scripted, make_run
from .measured import client_stats, histogram, measurement

TABLES = ("experiments", "metadata", "samples", "histograms")


def scripted(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
    late = data["aggressor"] == "busy" and data["load_index"] == 2 and round_ == 1
    client = {"send_late_ns": histogram({900: 10})} if late else None
    return Scripted(1_000 + 100 * data["load_index"], 0.95, 120.0, client=client)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path, scripted)


@pytest.fixture
def kept(run: Path) -> Iterator[Store]:
    made = Store(run.parents[1])
    yield made
    made.close()


def everything(kept: Store) -> dict[str, list[tuple]]:
    with sqlite3.connect(kept.results / store.FILE_NAME) as connection:
        return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}


def test_the_uuid_is_known_before_the_run(run: Path, kept: Store) -> None:
    foretold = experiment_uuid("swan_sensitivity", "made")
    assert UUID(foretold).version == 5
    assert kept.put(run) == uuid_of(run) == foretold
    assert experiment_uuid("swan_sensitivity", "other") != foretold


def test_it_is_a_file_with_a_write_ahead_log(kept: Store) -> None:
    with sqlite3.connect(kept.results / "swan.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_stored_again_it_has_the_same_rows(run: Path, kept: Store) -> None:
    kept.put(run)
    before = everything(kept)
    kept.put(run, again=True)
    assert everything(kept) == before
    assert [len(before[table]) for table in ("experiments", "histograms")] == [1, 3 * 15 * 3]


def test_a_run_that_has_not_changed_is_not_read_again(
    run: Path, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.put(run)
    monkeypatch.setattr("turntable.systems.swan.store.store.load_run", None)
    kept.put(run)
    with (run / "journal.ndjson").open("a") as journal:
        journal.write("\n{")  # torn: nothing of it counts, but the run is looked at again
    with pytest.raises(TurntableError, match="TypeError"):
        kept.put(run)


def test_what_is_recorded_while_a_run_is_read_is_stored_the_next_time(
    run: Path, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = run / "journal.ndjson"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))
    name = "turntable.systems.swan.store.store.load_run"

    def load_meanwhile(directory: Path) -> Run:
        loaded = load_run(directory)
        journal.write_text("".join(lines))
        return loaded

    monkeypatch.setattr(name, load_meanwhile)
    kept.put(run)
    before = everything(kept)
    monkeypatch.setattr(name, load_run)
    kept.put(run)
    assert len(everything(kept)["histograms"]) > len(before["histograms"])


def test_it_can_be_read_while_another_command_stores(run: Path, kept: Store) -> None:
    uuid = kept.put(run)
    with sqlite3.connect(kept.results / store.FILE_NAME, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM samples")
        beside = Store(kept.results)
        assert len(beside.samples(uuid)) > 0
        beside.close()
        other.execute("ROLLBACK")


def test_nothing_is_stored_of_what_fails_in_the_middle(
    run: Path, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.put(run)
    before = everything(kept)

    def fail(*_: object) -> None:
        raise RuntimeError("in the middle")

    monkeypatch.setattr("turntable.systems.swan.store.store.rows.histograms", fail)
    with pytest.raises(TurntableError, match="RuntimeError: in the middle"):
        kept.put(run, again=True)
    assert everything(kept) == before


def test_a_sample_has_swans_tags(run: Path, kept: Store) -> None:
    uuid = kept.put(run)
    samples = kept.samples(uuid)
    own = samples[(samples["aggressor"] == "busy") & (samples["ns"] == f"{MCLOAD}/qps")]
    assert sorted(own["loadpoint_qps"].unique()) == [2_000, 5_000, 10_000]
    assert sorted(own["repetition"].unique()) == [0, 1, 2]
    assert own["value"].tolist() == [0.95 * target for target in own["loadpoint_qps"]]
    tags = json.loads(own[own["phase"].str.endswith("load point 2; repetition 1")]["tags"].iloc[0])
    assert tags["swan_experiment"] == uuid
    assert tags["swan_phase"] == "Aggressor busy; load point 2; repetition 1"
    assert (tags["swan_aggressor_name"], tags["swan_repetition"]) == ("busy", 1)
    assert tags["swan_loadpoint_qps"] == 10_000
    assert tags["valid"] is False and "sent late" in tags["reasons"][0]


def test_baselines_repetitions_are_all_of_a_round(run: Path, kept: Store) -> None:
    samples = kept.samples(kept.put(run))
    own = samples[(samples["aggressor"] == "Baseline") & (samples["ns"] == f"{MCLOAD}/qps")]
    assert sorted(own["repetition"].unique()) == list(range(9))


def test_latencies_are_those_of_the_histogram(run: Path, kept: Store) -> None:
    """Nine tenths of 5,000 take 500 µs, 475 take 1,000 µs, 25 take 2,000 µs."""
    uuid, phase = kept.put(run), "Aggressor placebo; load point 0; repetition 0"
    samples = kept.samples(uuid)
    found = dict(samples[samples["phase"] == phase][["ns", "value"]].to_numpy())
    by_hand = {
        "avg": (4_500 * 500 + 475 * 1_000 + 25 * 2_000) / 5_000,
        "min": 500,
        "percentile/5th": 500,
        "percentile/90th": 500,
        "percentile/99th": 1_000,
        "percentile/99.9th": 2_000,
        "from_send/percentile/99th": 500,
    }
    for name, value in by_hand.items():
        assert found[f"{MCLOAD}/{name}"] == pytest.approx(value, rel=2e-3), name
    (text,) = kept.histograms(uuid, phase, f"{MCLOAD}/latency_ns")
    assert HdrHistogram.decode(text).get_total_count() == 5_000


def test_what_has_no_answer_counts_as_the_slowest_in_all_percentiles() -> None:
    """5,000 answers of 1 ms, and as many requests without one, which were waited for 2 s."""
    client = client_stats(latency_ns=histogram({1_000: 5_000}), lost=5_000)
    found = dict(metrics(measurement(client), {"percentile": 99, "drain_s": 2}))
    assert found[f"{MCLOAD}/percentile/5th"] == pytest.approx(1_000, rel=2e-3)
    assert found[f"{MCLOAD}/percentile/99th"] == 2_000_000
    assert found[f"{MCLOAD}/sli"] == 2_000_000


def test_metadata_has_swans_kinds(run: Path, kept: Store) -> None:
    uuid = kept.put(run)
    general, flags = kept.metadata(uuid), kept.metadata(uuid, "flags")
    assert general["experiment_name"] == "swan_sensitivity"
    assert (general["peak_load"], general["load_points"]) == ("10000", "3")
    assert (general["repetitions"], general["load_duration"]) == ("3", "5s")
    assert flags["experiment_slo"] == "5000"
    assert flags["experiment_be_workloads"] == "None,placebo,busy"
    assert (flags["mutilate_warmup_time"], flags["layout"]) == ("1s", "same-core")
    platform = kept.metadata(uuid, "platform")
    assert platform["cpu_model"] == "A processor"
    assert platform["versions.memcached"] == "1.6.18"
    assert platform["governor.0"] == "performance"


def test_what_was_noted_of_the_environment_stays(run: Path, kept: Store) -> None:
    uuid = kept.note_begin("swan_sensitivity", "made", {"SWAN_EXPERIMENT_SLO": "5000"})
    (begun,) = kept.experiments()
    assert (begun.id, begun.digest) == (uuid, None)
    assert kept.put(run) == uuid
    assert kept.metadata(uuid, "environ") == {"SWAN_EXPERIMENT_SLO": "5000"}
    assert kept.experiments()[0].digest is not None


def test_all_runs_of_the_system_are_found(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_run(tmp_path, scripted, ("busy",), (0.5,), rounds=1, name=name)
    (tmp_path / "swan_broken" / "run").mkdir(parents=True)
    (tmp_path / "swan_broken" / "run" / "plan.json").write_text("{")
    older = make_run(tmp_path, scripted, ("busy",), (0.5,), rounds=1, name="zero")
    plan = (older / "plan.json").read_text()
    (older / "plan.json").write_text(plan.replace("drain_s", "a_parameter_of_another_version"))
    made = Store(tmp_path)
    faults = made.put_all()
    assert [kept.run for kept in made.experiments()] == ["one", "two"]
    broken, zero = faults
    assert "swan_broken/run" in broken
    assert zero.startswith(f"{older}: cannot be read as a run: KeyError: 'drain_s'")
    made.close()


@pytest.mark.usefixtures("run")
def test_an_error_of_the_store_is_no_runs_fault(kept: Store) -> None:
    """SQLite answers with SQLITE_FULL: a page more than the file may have."""
    connection = kept._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        kept.put_all()


def test_a_run_with_two_rows_for_one_place_is_that_runs_fault(
    run: Path, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.rows.Phase, "key", ("busy", 1, 1, "the same"))
    (fault,) = kept.put_all()
    assert fault.startswith(f"{run}: cannot be read as a run: IntegrityError")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_after_sudo_its_files_are_the_callers(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller, "ids", lambda: (1234, 1235))
    (tmp_path / "swan.sqlite-wal").touch()  # that an earlier one, which was killed, has left
    with closing(Store(tmp_path)) as opened:
        opened.put(run)
        found = {file.name: file.stat() for file in tmp_path.glob("swan.sqlite*")}
    assert {name: (one.st_uid, one.st_gid) for name, one in found.items()} == dict.fromkeys(
        ("swan.sqlite", "swan.sqlite-wal", "swan.sqlite-shm"), (1234, 1235)
    )


def test_a_store_that_is_being_made_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite says so at once where two make a write-ahead log; whatever the extended code."""
    refusals = [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY]
    connect = sqlite3.connect

    def refuse_first(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        if not refusals:
            return connect(*args, **kwargs)
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = refusals.pop()
        raise error

    monkeypatch.setattr(sqlite3, "connect", refuse_first)
    Store(tmp_path).close()
    assert not refusals


def open_together(directory: Path, together: Any, rounds: int, faults: Any) -> None:
    for number in range(rounds):
        together.wait()
        try:
            Store(directory / str(number)).close()
        except Exception as error:
            faults.put(str(error))


def test_many_processes_may_be_the_first(tmp_path: Path) -> None:
    processes, rounds = 8, 40
    forked = multiprocessing.get_context("fork")
    together, faults = forked.Barrier(processes), forked.SimpleQueue()
    every = [
        forked.Process(target=open_together, args=(tmp_path, together, rounds, faults))
        for _ in range(processes)
    ]
    for one in every:
        one.start()
    for one in every:
        one.join()
    found = [faults.get() for _ in iter(faults.empty, True)]
    assert not found, f"{len(found)} of {processes * rounds}: {found[0]}"


def test_an_experiment_is_found_by_its_first_digits(run: Path, kept: Store) -> None:
    uuid = kept.put(run)
    assert kept.find(uuid[:6]).id == uuid
    for unknown in (uuid[:3], "0000000"):
        with pytest.raises(TurntableError, match="no experiment with the UUID"):
            kept.find(unknown)


def test_what_is_no_store_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "swan.sqlite").write_text("something else, which is not a database at all\n" * 100)
    with pytest.raises(TurntableError, match="move it away"):
        Store(tmp_path)
    assert (tmp_path / "swan.sqlite").read_text().startswith("something else")


def test_another_versions_store_is_refused(tmp_path: Path) -> None:
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / "swan.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(TurntableError, match="has format 99; expected 1 or 2"):
        Store(tmp_path)


def test_runs_of_other_systems_are_refused(run: Path, kept: Store) -> None:
    plan = json.loads((run / "plan.json").read_text()) | {"system": "homa"}
    (run / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(TurntableError, match="a run of system homa; expected one of swan"):
        kept.put(run)


def test_cells_of_a_run_are_told_apart(tmp_path: Path) -> None:
    cells = [{"isolation": "none"}, {"isolation": "shares"}]
    run = make_run(tmp_path, scripted, ("busy",), (0.5, 1.0), rounds=2, cells=cells)
    made = Store(tmp_path)
    found = export.frame(made, made.put(run))
    made.close()
    assert len(found) == 2 * 2 * (3 + 1) * 2
    assert set(found["cell_label"]) == {
        "same-core · isolation none",
        "same-core · isolation shares",
    }


def test_exported_it_is_a_row_per_iteration(run: Path, kept: Store, tmp_path: Path) -> None:
    uuid = kept.put(run)
    export.write_csv(export.frame(kept, uuid), tmp_path / "out.csv")
    read = pd.read_csv(tmp_path / "out.csv")
    assert len(read) == 3 * 15
    busy = read[(read["aggressor"] == "busy") & (read["loadpoint_qps"] == 5_000)]
    assert busy["99th"].tolist() == pytest.approx([1_100] * 3, rel=2e-3)
    assert busy["aggressor_progress"].tolist() == [120] * 3
    assert set(busy["unit"]) == {"bogo ops"}
    assert (~read["valid"]).sum() == 1
    assert read[read["aggressor"] == "Baseline"]["aggressor_progress"].isna().all()


def test_a_file_that_finds_no_room_is_as_it_was(run: Path, kept: Store, tmp_path: Path) -> None:
    """Of a process whose files may have so many bytes only."""
    found, file = export.frame(kept, kept.put(run)), tmp_path / "out.csv"
    file.write_text("before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            export.write_csv(found, file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert file.read_text() == "before"
    assert not list(tmp_path.glob(".out.csv*"))


def test_parquet_says_what_it_needs(
    run: Path, kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ImportError("pyarrow")

    found = export.frame(kept, kept.put(run))
    monkeypatch.setattr(pd.DataFrame, "to_parquet", missing)
    with pytest.raises(TurntableError, match="Parquet needs pyarrow"):
        export.write_parquet(found, tmp_path / "out.parquet")
