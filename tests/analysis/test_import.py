"""Statistics of FarReach's artifact as runs: numbers by the formulas of its scripts, worked out
here by hand; what is missing; malformed files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import turntable
from turntable import tidy
from turntable.analyze import compare_and_draw, rebuild
from turntable.imported import import_directory
from turntable.overview import series_named, write_overview
from turntable.systems.farreach import tidy as farreach_tidy
from turntable.systems.farreach.artifact import arithmetic
from turntable_core.catalogue import state_of
from turntable_core.errors import TurntableError
from turntable_core.manifest import read_manifest
from turntable_core.run_directory import RunDirectory

from . import artifact_files, recordings


def imported(tmp_path: Path, name: str = "old") -> Path:
    (directory,) = import_directory(tmp_path / "results", tmp_path / "old", name)
    return directory


def edit(file: Path, index: int, **fields: Any) -> None:
    objects = json.loads(file.read_text())
    objects[index] |= fields
    artifact_files.write(file, objects)


def test_throughput_by_the_formulas_of_the_artifact(tmp_path: Path) -> None:
    """Per second, in thousands: the bottleneck had X = 60, 63, 60, 57, mean Xb = 60, of which
    servers S = 40, 42, 40, 38, mean Sb = 40. X' = 50.4 * 60/63 = 48, 48 * 60/60 = 48,
    39.9 * 60/57 = 42; S' = 42 * 40/42 = 40, 38, 36.1 * 40/38 = 38.
    Aggregate 60 + 48 + 48 + 42 = 198; normalized 198 / 40; imbalance 40 / 38.
    """
    artifact_files.write_rotation(tmp_path / "old")
    directory = imported(tmp_path)
    assert directory == tmp_path / "results" / "farreach_exp01_throughput" / "old"
    run = turntable.load_run(directory)
    (row,) = run.rows
    assert row["verdict"] == "valid"
    assert (row["method"], row["workload"], row["servers"]) == ("farreach", "workloada", 4)
    assert row["aggregate_ops_per_s"] == pytest.approx(198_000)
    assert row["normalized_throughput"] == pytest.approx(198 / 40)
    assert row["imbalance_ratio"] == pytest.approx(40 / 38)
    assert row["bottleneck_partition"] == 3
    assert row["retries"] is None


def test_latency_is_of_the_histograms(tmp_path: Path) -> None:
    """Servers answer in 100 µs, the switch in 10. Of the bottleneck a third by the switch, of the
    rotated ones as in ROTATION, scaled with 60/63, 1, 60/57: by servers 40 + 40 + 38 + 38, by the
    switch 20 + 8 + 10 + 4, of 198 in all.
    """
    artifact_files.write_rotation(tmp_path / "old")
    (row,) = turntable.load_run(imported(tmp_path)).rows
    # Weights are by total throughput: partition 0 is 50.4 of which 42 by servers, times 60/63.
    by_servers = 40 + 42 * 60 / 63 + 38 + 36.1 * 60 / 57
    by_switch = 20 + 8.4 * 60 / 63 + 10 + 3.8 * 60 / 57
    mean = (100 * by_servers + 10 * by_switch) / (by_servers + by_switch)
    assert row["latency_mean_us"] == pytest.approx(mean)
    assert row["latency_p50_us"] == pytest.approx(100, rel=1e-3)


def test_frames_comparison_and_report(tmp_path: Path) -> None:
    artifact_files.write_rotation(tmp_path / "old")
    directory = imported(tmp_path)
    text = rebuild(directory)
    assert "198,000" in text
    page = (directory / "report.html").read_text()
    assert "the artifact&#39;s files hold no counters of servers" in page
    run = turntable.load_run(directory)
    rates = farreach_tidy.iterations(run)
    bottleneck = rates[rates["role"] == "bottleneck"]
    assert list(bottleneck["server_ops_per_s"]) == [40_000, 42_000, 40_000, 38_000]
    assert rates["switch_requests"].isna().all()
    assert len(tidy.attempts(run)) == 4
    ours = recordings.copy_run(tmp_path / "results" / "farreach_exp01_throughput")
    compared = compare_and_draw(directory, ours)
    assert "normalized_throughput" in compared


def test_both_runs_are_in_one_figure(tmp_path: Path) -> None:
    """Of the recorded run, 4 servers and NoCache as well. Nothing is listed as different that is
    only not known of old results.
    """
    artifact_files.write_rotation(tmp_path / "old", "nocache")
    old = imported(tmp_path)
    ours = recordings.copy_run(tmp_path / "results" / "farreach_exp01_throughput")
    text = compare_and_draw(old, ours)
    page = next(old.glob("compare-*.html")).read_text()
    assert "first: old" in page
    assert "4.95" in text  # 198 / 40
    assert "packages" not in text
    assert "validity" not in text
    assert "Little is known of what the first was made with: it was imported" in text


def test_what_the_scripts_of_the_artifact_print(tmp_path: Path) -> None:
    """X of the bottleneck is 60, 63, 60, 57 operations per millisecond, of the rotated partitions
    50.4, 48, 39.9, cut to 50, 48, 39; S of the latter 42, 38, 36.1, cut to 42, 38, 36:
    60 + 50 * 60/63 + 48 + 39 * 60/57. Latency: sums and counts of the histograms, the bottleneck's
    by four: (160 * 100 + 80 * 10) / 4 + (42 + 38 + 36.1) * 100 + (8.4 + 10 + 3.8) * 10.
    """
    artifact_files.write_rotation(tmp_path / "old")
    run = turntable.load_run(imported(tmp_path))
    (row,) = arithmetic.rows(run.cells)
    total = 60 + 50 * 60 / 63 + 48 + 39 * 60 / 57
    assert row["mops"] == pytest.approx(total / 1e3)
    assert row["mops_here"] == pytest.approx(0.198)
    assert row["normalized"] == pytest.approx(total / 40)  # 42 * 40/42, 38, 36 * 40/38 are less
    servers, switch = 160 / 4 + 42 + 38 + 36.1, 80 / 4 + 8.4 + 10 + 3.8
    mean = (100 * servers + 10 * switch) / (servers + switch)
    assert row["latency_us"] == pytest.approx(mean)
    assert row["clamped"] == 0
    assert row["missing"] is None


def test_latencies_above_the_last_bucket(tmp_path: Path) -> None:
    """A tenth of what servers answered in iteration 0 took 50 ms: in the last bucket."""
    for file in artifact_files.write_rotation(tmp_path / "old"):
        histogram = [0] * artifact_files.BUCKETS
        histogram[100], histogram[-1] = 180_000, 20_000
        sum_us = 180_000 * 100 + 20_000 * 50_000
        edit(
            file,
            0,
            perserverCachemissTotalHistogram=[histogram],
            perserverCachemissTotalLatency=[sum_us],
        )
    run = turntable.load_run(imported(tmp_path))
    (row,) = arithmetic.rows(run.cells)
    operations = 160 / 4 + 42 + 38 + 36.1 + 80 / 4 + 8.4 + 10 + 3.8
    assert row["clamped"] == pytest.approx(100 * (4 / 4) / operations)  # 40 of 10 s: 4 per ms
    assert row["latency_here_us"] > row["latency_us"] > 100


def test_missing_iteration_is_named(tmp_path: Path) -> None:
    """One that neither machine has, and one that only client 0 has."""
    first, second = artifact_files.write_rotation(tmp_path / "old")
    objects = artifact_files.rotation(0)
    artifact_files.write(first, objects[:3])
    artifact_files.write(second, objects[:2])
    run = turntable.load_run(imported(tmp_path))
    (turn,) = run.turns
    assert turn.missing == [2, 3]
    assert turn.row["aggregate_ops_per_s"] is None
    assert "2 of 4 iterations are missing" in turn.row["verdict"]
    (failed,) = [attempt for attempt in run.attempts if attempt.status == "failed"]
    assert failed.iteration == 2
    assert "farreach-static4-client1.out: no object 'server-3-1'" in failed.message
    (row,) = arithmetic.rows(run.cells)
    assert row["missing"] == "3+1, 3+2"
    assert state_of(run.directory, tmp_path).command is None  # no playbook measures what is missing
    assert row["mops"] is None


def test_counts_that_contradict_each_other_are_no_result(tmp_path: Path) -> None:
    first, _ = artifact_files.write_rotation(tmp_path / "old")
    edit(first, 2, perserverOpsdone=[0, 0, 5, 200_000])
    (row,) = turntable.load_run(imported(tmp_path)).rows
    assert row["verdict"].startswith("invalid: counters do not add up: client0, server-3-1: 5 oper")


def test_a_partition_that_finished_nothing_is_no_result(tmp_path: Path) -> None:
    """Its server was not up: then the counts agree with each other."""
    dead = artifact_files.statistics("server-3-1", {3: (200_000, 100_000), 1: (0, 0)}, 4, 10_000)
    for file in artifact_files.write_rotation(tmp_path / "old"):
        edit(file, 2, **dead)
    (row,) = turntable.load_run(imported(tmp_path)).rows
    assert "client0, server-3-1: partition 1 ran, but finished no operation" in row["verdict"]


@pytest.mark.parametrize(
    ("fields", "line", "reason"),
    [
        ({"strid": "server-3-9"}, 2, "'server-3-9' is not accepted; expected different partitions"),
        ({"strid": "sec-1"}, 2, "expected server-B or server-B-R"),
        ({"strid": "server-3-1"}, 3, "expected every one once"),
        ({"strid": "server-2-1"}, 2, "expected the bottleneck 3 first"),
        ({"executionMillis": 0}, 2, "executionMillis: 0 is not accepted"),
        ({"totalOpsdone": 1.5}, 2, "totalOpsdone: 1.5 is not accepted; expected a whole number"),
        ({"perserverOpsdone": [1, 2, 3]}, 2, "expected a list of 4 counts"),
        ({"perserverCachehits": [1, 2, -3, 4]}, 2, "perserverCachehits[2]: -3"),
        ({"perserverCachehitTotalHistogram": [[0] * 9_999] * 2}, 2, "10000 counts"),
        # Histograms count in 64 bits: what overflows them ended the process.
        ({"perserverCachehits": [1, 2, 2**63, 4]}, 2, "perserverCachehits[2]: 9223372036854775808"),
        ({"perserverCachemissTotalHistogram": [[2**63 + 5] + [0] * 9_999] * 2}, 2, "at most 10^15"),
        ({"executionMillis": 10**400}, 2, "at least 1 and at most 10^15"),
        ({"strid": "server-" + "9" * 5000}, 2, "expected server-B or server-B-R"),
        ({"perserverCachemissTotalLatency": [1]}, 2, "each of the 2 partitions that ran"),
    ],
)
def test_malformed_file_is_named_with_line_and_reason(
    tmp_path: Path, fields: dict[str, Any], line: int, reason: str
) -> None:
    file, _ = artifact_files.write_rotation(tmp_path / "old")
    edit(file, 1, **fields)
    with pytest.raises(TurntableError) as caught:
        imported(tmp_path)
    assert f"{file}:{line}: " in str(caught.value)
    assert reason in str(caught.value)
    assert not list(tmp_path.glob("results/**/*"))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "the file is empty"),
        ("{}", 1, "begins with '{'"),
        ("[]", 1, "the array is empty"),
        ("[\n\n3]", 3, "element: 3 is not accepted; expected an object"),
        ('[\n{"strid": "server-3"},\n', 2, "server-3, totalOpsdone is missing"),
        ('[\n{"strid": \n', 3, "not valid JSON"),
        ('[\n{"strid": ' + "1" * 5000 + "}]", 2, "a number of thousands of digits"),
    ],
)
def test_what_is_no_array_of_objects(tmp_path: Path, text: str, line: int, reason: str) -> None:
    _, file = artifact_files.write_rotation(tmp_path / "old")
    file.write_text(text)
    with pytest.raises(TurntableError) as caught:
        imported(tmp_path)
    assert f"{file}:{line}: {reason}" in str(caught.value)
    assert not list(tmp_path.glob("results/**/*"))


def test_cut_off_file(tmp_path: Path) -> None:
    file, _ = artifact_files.write_rotation(tmp_path / "old")
    text = file.read_text()
    file.write_text(text[:-1])
    with pytest.raises(
        TurntableError, match=r"client0\.out:4: the file ends before its array does"
    ):
        imported(tmp_path)


def test_every_second_of_changing_popularity(tmp_path: Path) -> None:
    """45,000 by servers, of which the busier has 25,000; with 30,000 hits each 105,000 / 25,000,
    with a tenth of the hits less 99,000 / 25,000: a fall of 6/105. Both machines measured so.
    """
    place = tmp_path / "old" / "synthetic-statistics"
    for client in (0, 1):
        dips = {10 * change: 0.1 for change in range(1, 7)}
        file = place / f"farreach-hotin-client{client}.out"
        artifact_files.write(file, artifact_files.seconds(75, dips))
    directory = imported(tmp_path)
    assert directory.parent.name == "farreach_exp07_dynamic"
    run = turntable.load_run(directory)
    (row,) = run.rows
    assert row["verdict"] == "valid"
    expected = (69 * 105 + 6 * 99) / 75 / 25
    assert row["normalized_throughput"] == pytest.approx(expected)
    assert row["dip"] == pytest.approx(6 / 105)
    assert row["return_s"] == 1


def test_missing_seconds_are_no_zeros(tmp_path: Path) -> None:
    place = tmp_path / "old" / "synthetic-statistics"
    seconds = artifact_files.seconds(75, {})
    for client in (0, 1):
        file = place / f"farreach-hotin-client{client}.out"
        artifact_files.write(file, [*seconds[:30], *seconds[32:]])
    run = turntable.load_run(imported(tmp_path))
    (row,) = run.rows
    assert "2 of 75 seconds are missing: 30, 31" in row["verdict"]


def describe(tmp_path: Path, text: str) -> None:
    (tmp_path / "old" / "import.yml").write_text(text)


def test_rounds_are_directories_in_their_order(tmp_path: Path) -> None:
    """The tenth after the ninth; round 2 has no files, and should."""
    artifact_files.write_rotation(tmp_path / "old" / "round-10")
    artifact_files.write_rotation(tmp_path / "old" / "round-9")
    slow, _ = artifact_files.write_rotation(tmp_path / "old" / "round-10")
    edit(slow, 0, perserverOpsdone=[0, 0, 0, 1])
    describe(tmp_path, "rounds: 3\n")
    run = turntable.load_run(imported(tmp_path))
    assert [turn.row["verdict"].partition(":")[0] for turn in run.turns] == [
        *("valid", "invalid", "invalid")
    ]
    assert run.turns[2].missing == [0, 1, 2, 3]
    text = rebuild(run.directory)
    assert "1 of 3 rounds are missing: none of their files was imported" in text


def test_description_says_what_names_do_not(tmp_path: Path) -> None:
    old = tmp_path / "old"
    for name in ("a0.json", "a1.json"):
        artifact_files.write(old / "kept" / name, artifact_files.rotation(0))
    describe(
        tmp_path,
        """
        note: Rack of old
        fidelity_class: emulated
        parameters: {records: 5000}
        files:
          "kept/*": {method: netcache, workload: workloadb, servers: 4, value_bytes: 64}
          "*/a0.json": {client: 0}
          "*/a1.json": {client: 1}
        """,
    )
    directory = imported(tmp_path)
    run = turntable.load_run(directory)
    (cell,) = run.cells
    said = {"method": "netcache", "workload": "workloadb", "records": 5000, "value_bytes": 64}
    assert {name: cell.parameters[name] for name in said} == said
    assert run.fidelity_class == "emulated"
    rebuild(directory)
    assert "Rack of old" in (directory / "report.html").read_text()


def test_what_limited_imported_servers_is_not_asked(tmp_path: Path) -> None:
    artifact_files.write_rotation(tmp_path / "old")
    describe(tmp_path, "fidelity_class: emulated\n")
    run = turntable.load_run(imported(tmp_path))
    assert [turn.row["verdict"] for turn in run.turns] == ["valid"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("files: {'*.out': {methd: nocache}}", "import.yml:1: files.*.out.methd: 'nocache'"),
        ("files:\n  'nothing/*': {client: 0}", "import.yml:2: files: 'nothing/*' is not accepted"),
        ("clients: 3", "import.yml:1: clients: 3 is not accepted; expected a known key"),
        ("client_machines: 3", "the file of client 2 is missing beside it"),
        ("client_machines: 1", "client: 1 is not accepted; expected clients 0 to 0"),
        ("parameters: {seed: 1}", "parameters.seed: 1 is not accepted"),
        ("files: {'*client0.out': {round: 0}}", "round is missing; expected said of it too"),
        ("[", "import.yml:1:2: not valid YAML"),
        ("- a", "import.yml: (whole document): ['a'] is not accepted; expected a mapping"),
    ],
)
def test_description_with_a_mistake(tmp_path: Path, text: str, message: str) -> None:
    artifact_files.write_rotation(tmp_path / "old")
    describe(tmp_path, text)
    with pytest.raises(TurntableError) as caught:
        imported(tmp_path)
    assert message in str(caught.value)


def test_latency_at_a_target_throughput(tmp_path: Path) -> None:
    """No file says the target."""
    place = tmp_path / "old" / "workloada-statistics"
    for client in (0, 1):
        file = place / f"farreach-latency-static4-client{client}.out"
        artifact_files.write(file, artifact_files.rotation(client))
    with pytest.raises(TurntableError, match="target_ops_per_s is missing"):
        imported(tmp_path)
    describe(tmp_path, "files: {'*-latency-*': {target_ops_per_s: 200000}}")
    directory = imported(tmp_path)
    assert directory.parent.name == "farreach_exp02_latency"
    text = rebuild(directory)
    (row,) = turntable.load_run(directory).rows
    assert row["state"] == "paced"
    # 60 + 50.4 + 48 + 39.9 thousand were answered of 200.
    assert row["delivered_share"] == pytest.approx(198.3 / 200)
    assert "paced" in text


def test_cells_of_several_experiments(tmp_path: Path) -> None:
    """Workload A at 16 servers is one of experiment 1, and of 3 if there are 32 servers beside."""
    old = tmp_path / "old" / "workloada-statistics"
    for servers in (16, 32):
        for client in (0, 1):
            made = [
                artifact_files.statistics(strid, {3: (100, 0)}, servers, 1000)
                for strid in ("server-3",)
            ]
            artifact_files.write(old / f"nocache-static{servers}-client{client}.out", made)
    (directory,) = import_directory(tmp_path / "results", tmp_path / "old", "old")
    assert directory.parent.name == "farreach_exp03_scalability"
    run = turntable.load_run(directory)
    assert [cell.parameters["servers"] for cell in run.cells] == [16, 32]
    assert [cell.paper["normalized_throughput"] for cell in run.cells] == [11.03, 14.98]


def test_nothing_to_import(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with pytest.raises(TurntableError, match="no file in or below it can be imported; expected <w"):
        imported(tmp_path)
    with pytest.raises(TurntableError, match="no such directory"):
        import_directory(tmp_path / "results", tmp_path / "none")


def test_name_that_is_taken(tmp_path: Path) -> None:
    artifact_files.write_rotation(tmp_path / "old")
    imported(tmp_path)
    with pytest.raises(TurntableError, match="is there already"):
        imported(tmp_path)


def test_overview_of_all_that_was_imported(tmp_path: Path) -> None:
    """Static files and files of changing popularity are runs of two experiments."""
    old = tmp_path / "old"
    artifact_files.write_rotation(old)
    for client in (0, 1):
        file = old / "synthetic-statistics" / f"nocache-random-client{client}.out"
        artifact_files.write(file, artifact_files.seconds(75, {}))
    runs = import_directory(tmp_path / "results", old, "old")
    assert [run.parent.name for run in runs] == [
        *("farreach_exp01_throughput", "farreach_exp07_dynamic")
    ]
    listed = [read_manifest(RunDirectory(run))["imported"]["files"] for run in runs]
    assert [len(files) for files in listed] == [2, 2]
    assert "workloada-statistics/farreach-static4-client0.out" in listed[0]
    (series,) = series_named(tmp_path / "results", "old")
    written = write_overview(series)
    assert written.page.exists()
    assert "farreach_exp07_dynamic" in written.text


def test_every_malformed_file_is_named(tmp_path: Path) -> None:
    first, _ = artifact_files.write_rotation(tmp_path / "old")
    _, second = artifact_files.write_rotation(tmp_path / "old", "nocache")
    edit(first, 0, executionMillis="10 s")
    edit(second, 3, totalOpsdone=-1)
    with pytest.raises(TurntableError) as caught:
        imported(tmp_path)
    one, other = str(caught.value).splitlines()
    assert one.startswith(f"{first}:1: server-3, executionMillis: '10 s' is not accepted")
    assert other.startswith(f"{second}:4: server-3-2, totalOpsdone: -1 is not accepted")


def test_a_number_per_line(tmp_path: Path) -> None:
    """Lines are those of the key, however the array is laid out."""
    file, _ = artifact_files.write_rotation(tmp_path / "old")
    objects = artifact_files.rotation(0)
    objects[1]["executionMillis"] = -5
    file.write_text(json.dumps(objects, indent=1))
    lines = file.read_text().splitlines()
    line = 1 + next(index for index, text in enumerate(lines) if '"executionMillis": -5' in text)
    with pytest.raises(
        TurntableError, match=f"client0.out:{line}: server-3-0, executionMillis: -5"
    ):
        imported(tmp_path)
