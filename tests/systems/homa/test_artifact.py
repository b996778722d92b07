"""The artifact's files. Numbers are those that it was published with (baselines of January 2019,
p99 slowdown of W3's smallest messages at 80 % load), or made up and worked out by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from turntable.load import load_run
from turntable.systems.homa.artifact import curves
from turntable.systems.homa.artifact.baseline import baseline_text, read_baseline
from turntable.systems.homa.artifact.directory import only_one_in, slowdowns_in
from turntable.systems.homa.artifact.echo import Echo, echo_table
from turntable.systems.homa.artifact.experiment import (
    RoundTrips,
    experiment_text,
    read_experiment,
)
from turntable.systems.homa.artifact.export import export_run
from turntable.systems.homa.artifact.hundredths import rows_of
from turntable.systems.homa.artifact.names import Experiment, experiment_of, sizes_of
from turntable.systems.homa.artifact.slowdown_rows import (
    read_slowdown_rows,
    slowdown_rows_text,
)
from turntable_core.errors import TurntableError
from turntable_systems.homa.distribution import Distribution, distribution_of
from turntable_systems.homa.sizes import text_of

from .measured import histogram
from .recorded_run import RECORDED

BASELINE = """\
3 4.3 us
1150 9.1 us
26000 52 us
10000000 17.1 ms
"""

EXPERIMENT = """\
1543262341.105 src/Driver.cc:71 in Driver NOTICE[1]: 10000 Mbps link
Size Samples Min Average Median 90% 99% 99.9% Max
3 1000 4.4 9.5 8.6 12.0 14.6 20.1 31.0
1150 500 9.2 20.0 18.2 25.5 36.4 41.0 52.5
1543262399.714 src/Client.cc:112 in main ERROR[1]: actual load is 3 % off
26000 500 53.0 120.5 104.0 180.0 208.0 260.0 300.0
"""

WITH_MEAN = "HomaP8 76 W3 3 1000 0.5 2.21 2.0 3.4\n"
WITHOUT_MEAN = "HomaP8 76 W3 3 1000 0.5 2.0 3.4\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "homa_W3_baseline.txt").write_text(BASELINE)
    (tmp_path / "HomaP8_W3_76_experiment.txt").write_text(EXPERIMENT)
    return tmp_path


def error_of(directory: Path) -> str:
    with pytest.raises(TurntableError) as caught:
        slowdowns_in(directory)
    return str(caught.value)


def test_a_baseline_has_units_and_is_read_in_proportion(directory: Path) -> None:
    baseline = read_baseline(directory / "homa_W3_baseline.txt")
    assert baseline.ns(3) == 4300
    assert baseline.ns(10_000_000) == pytest.approx(17_100_000)
    # Halfway between 1,150 and 26,000 bytes.
    assert baseline.ns(13_575) == pytest.approx((9100 + 52_000) / 2)


def test_a_baseline_is_written_as_it_was_read(directory: Path, tmp_path: Path) -> None:
    baseline = read_baseline(directory / "homa_W3_baseline.txt")
    assert baseline_text(baseline.ns_by_bytes) == BASELINE


def test_rows_among_the_lines_of_a_log(directory: Path) -> None:
    rows = read_experiment(directory / "HomaP8_W3_76_experiment.txt")
    assert rows[0] == RoundTrips(3, 1000, 4.4, 9.5, 8.6, 12.0, 14.6, 20.1, 31.0)
    assert [row.size for row in rows] == [3, 1150, 26_000]


def test_an_experiment_that_was_written_reads_the_same(directory: Path) -> None:
    path = directory / "HomaP8_W3_76_experiment.txt"
    rows = read_experiment(path)
    path.write_text(experiment_text(rows))
    assert read_experiment(path) == rows


def test_slowdowns_are_over_the_least_of_the_idle_network(directory: Path) -> None:
    smallest, middle, large = slowdowns_in(directory)
    assert smallest.p99 == pytest.approx(3.395, abs=1e-3)  # 14.6 / 4.3; published: 3.4
    assert smallest.median == pytest.approx(2.0)
    assert (middle.p99, large.p99) == (pytest.approx(4.0), pytest.approx(4.0))
    assert (large.name, large.workload, large.load) == ("HomaP8", "W3", "76")
    assert [row.fraction for row in (smallest, middle, large)] == [0.5, 0.75, 1.0]


def test_shares_of_messages_are_the_workloads_where_it_has_all_sizes(directory: Path) -> None:
    """The artifact keeps at most 500,000 samples of a size."""
    rows = EXPERIMENT.replace("\n1150 ", "\n268 ").replace("\n26000 ", "\n1755 ")
    (directory / "HomaP8_W3_76_experiment.txt").write_text(rows)
    fractions = [row.fraction for row in slowdowns_in(directory)]
    # Of W3's table.
    assert fractions == pytest.approx([0.0648826, 0.5239935, 0.9012515], abs=1e-6)


def test_the_baseline_is_the_transports_own_or_homas(directory: Path) -> None:
    (directory / "HomaP8_W3_76_experiment.txt").rename(directory / "Basic_W3_76_experiment.txt")
    assert slowdowns_in(directory)[0].p99 == pytest.approx(3.395, abs=1e-3)
    (directory / "Basic_W3_baseline.txt").write_text(BASELINE.replace("4.3", "7.3"))
    assert slowdowns_in(directory)[0].p99 == pytest.approx(2.0)


@pytest.mark.parametrize(("text", "mean"), [(WITH_MEAN, 2.21), (WITHOUT_MEAN, None)])
def test_slowdowns_of_both_versions_of_the_script(
    tmp_path: Path, text: str, mean: float | None
) -> None:
    (tmp_path / "slowdownImpl.txt").write_text(
        "name load workload size samples fraction median p99\n" + text
    )
    (row,) = slowdowns_in(tmp_path)
    assert (row.size, row.samples, row.fraction) == (3, 1000, 0.5)
    assert (row.mean, row.median, row.p99) == (mean, 2.0, 3.4)


def test_slowdowns_that_were_written_read_the_same(directory: Path, tmp_path: Path) -> None:
    rows = slowdowns_in(directory)
    path = tmp_path / "slowdownImpl.txt"
    path.write_text(slowdown_rows_text(rows))
    read = read_slowdown_rows(path)
    assert [(row.size, row.samples) for row in read] == [(row.size, row.samples) for row in rows]
    assert [row.p99 for row in read] == pytest.approx([row.p99 for row in rows], abs=1e-3)


@pytest.mark.parametrize(
    ("file", "line", "number", "says"),
    [
        ("homa_W3_baseline.txt", "8 5.1\n", 5, "the unit (us, ms, s)"),
        ("homa_W3_baseline.txt", "8 5.1 ns\n", 5, "the unit (us, ms, s)"),
        ("homa_W3_baseline.txt", "8 -5.1 us\n", 5, "round trip: '-5.1' is not accepted"),
        ("homa_W3_baseline.txt", "8 0 us\n", 5, "a round trip of 0"),
        ("homa_W3_baseline.txt", "3 5.1 us\n", 5, "size 3 is there twice"),
        ("HomaP8_W3_76_experiment.txt", "77 10 1 2 3 4 5 6\n", 7, "8 columns; expected 9"),
        ("HomaP8_W3_76_experiment.txt", "77 x 1 2 3 4 5 6 7\n", 7, "Samples: 'x'"),
        ("HomaP8_W3_76_experiment.txt", "77 10 1 2 3 nan 5 6 7\n", 7, "90%: 'nan'"),
        ("HomaP8_W3_76_experiment.txt", "77 10 1 2 3 4 9 6 7\n", 7, "below a lower one"),
    ],
)
def test_a_damaged_line_is_named(
    directory: Path, file: str, line: str, number: int, says: str
) -> None:
    with (directory / file).open("a") as stream:
        stream.write(line)
    assert f"{directory / file}:{number}: " in error_of(directory)
    assert says in error_of(directory)


def test_all_damaged_files_are_named(directory: Path) -> None:
    for file in ("homa_W3_baseline.txt", "HomaP8_W3_76_experiment.txt"):
        (directory / file).write_text("7\n")
    text = error_of(directory)
    assert "homa_W3_baseline.txt:1: " in text
    assert "HomaP8_W3_76_experiment.txt:1: " in text


@pytest.mark.parametrize("line", ["HomaP8 76 W3 3 1000 0.5 3.4", "HomaP8 76 W3 3 1000 1.7 2 3.4"])
def test_a_damaged_row_of_slowdowns_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "slowdownImpl.txt").write_text(WITH_MEAN + line + "\n")
    assert "slowdownImpl.txt:2: " in error_of(tmp_path)


def test_a_baseline_must_have_the_sizes_of_the_rows(directory: Path) -> None:
    (directory / "homa_W3_baseline.txt").write_text("8 4.4 us\n1150 9.1 us\n")
    text = error_of(directory)
    assert "has round trips of 8 to 1150 bytes, and messages have 3, 26000 bytes" in text
    assert "msgbench client --unloaded" in text


def test_a_baseline_that_is_not_there(directory: Path) -> None:
    (directory / "homa_W3_baseline.txt").unlink()
    assert "HomaP8_W3_76_experiment.txt: no baseline; expected homa_W3_b" in error_of(directory)


def test_a_directory_of_something_else(tmp_path: Path) -> None:
    assert "none of the artifact's files; expected NAME_W_LOAD" in error_of(tmp_path)
    assert "no such directory" in error_of(tmp_path / "nowhere")


def test_names_of_files() -> None:
    assert experiment_of("HomaP8_W3_76_experiment.txt") == Experiment("W3", "76", "HomaP8")
    assert Experiment("W3", "76", "HomaP8").file == "HomaP8_W3_76_experiment.txt"
    assert experiment_of("homa_W3_baseline.txt") is None
    assert experiment_of("W3_76_experiment.txt") is None


def test_the_table_is_read_at_shares_of_the_messages(directory: Path) -> None:
    lines = curves.slowdown_lines(slowdowns_in(directory))
    assert lines[2] == "W3, payload 76 % of the link"
    # Half of the samples are of the smallest size.
    assert lines[4].split() == ["HomaP8", "3.4", "3.4", "3.4", "4", "4", "4", "4", "2,000"]


def test_a_figure_is_drawn(directory: Path, tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    curves.save_figure(slowdowns_in(directory), "homa_experiment_20190101000000", path)
    text = path.read_text()
    for word in ("HomaP8", "W3, payload 76 %", "homa_experiment_20190101000000"):
        assert word in text


def test_echoes_have_the_artifacts_names_and_units() -> None:
    """Those of a 10 GbE testbed; a megabyte has 2^20 bytes, or 1 MB would be 581 MB/s."""
    small = Echo(100, 4800, 5100, 4900, 5200, 5500, 7300)
    large = Echo(1_000_000, 1.7e6, 1.72e6, 1.72e6, 1.8e6, 1.9e6, 2e6)
    rows = [line.split(maxsplit=3) for line in echo_table([small, large])]
    assert [row[:3] for row in rows[:6]] == [
        ["echo100", "4.9", "us"],
        ["echo100.min", "4.8", "us"],
        ["echo100.9", "5.2", "us"],
        ["echo100.99", "5.5", "us"],
        ["echo100.999", "7.3", "us"],
        ["echoBw100", "18.7", "MB/s"],
    ]
    assert rows[0][3] == "echo 100B object, median"
    assert rows[6][:3] == ["echo1M", "1.7", "ms"]
    assert rows[11][0] == "echoBw1M"
    assert float(rows[11][1]) == pytest.approx(554, abs=0.6)


# --- Sizes and hundredths

TABLE = "57.5\n10 0.5\n25 0.995\n3000 1.0\n"


def test_sizes_of_the_paper() -> None:
    """Published: 36 bytes at 10 % of W3's messages, 268 at 50, 1,755 at 90."""
    w3 = distribution_of({"table": text_of("W3")}, "W3")
    assert [w3.at(share) for share in (0.1, 0.5, 0.9)] == [36, 268, 1755]
    assert w3.largest_of_hundredths()[0] == 3


def test_the_largest_size_of_each_hundredth() -> None:
    sizes = distribution_of({"table": TABLE}, "table")
    assert sizes.largest_of_hundredths() == [10] * 50 + [25] * 49 + [3000]
    assert distribution_of({"bytes": 7}, "7B") == Distribution((7,), (1.0,))


def test_sizes_are_divided_halves_up_and_capped() -> None:
    assert distribution_of({"table": TABLE, "divide": 10}, "t").sizes == (1, 3, 300)
    assert distribution_of({"table": TABLE, "cap": 20}, "t") == Distribution((10, 20), (0.5, 1.0))


@pytest.mark.parametrize("line", ["25", "25 x", "9 0.7", "25 0.4", "25 1.5"])
def test_a_table_that_is_none(line: str) -> None:
    with pytest.raises(TurntableError, match=r"sizes\.txt:3: "):
        distribution_of({"table": f"57.5\n10 0.5\n{line}\n3000 1.0\n"}, "sizes.txt")


def test_a_row_is_of_the_hundredths_with_one_largest_size() -> None:
    sizes = Distribution((10, 3000), (0.99, 1.0))
    hundredths = [[histogram({5: 9, 20: 1})]] * 99 + [[histogram({700: 4})]]
    small, large = rows_of(hundredths, [[]] * 100, sizes)
    assert (small.size, small.samples) == (10, 990)
    assert (small.min_us, small.median_us, small.p99_us) == pytest.approx((5, 5, 20), rel=1e-3)
    assert small.average_us == pytest.approx(6.5, rel=1e-3)
    assert (large.size, large.samples) == (3000, 4)
    assert large.max_us == pytest.approx(700, rel=1e-3)
    assert (small.least_size, large.least_size) == (None, None)


# 99 % are of 10 bytes; the last hundredth has 100, 900 and 30,000 bytes.
SEVERAL = Distribution((10, 100, 900, 30_000), (0.99, 0.993, 0.999, 1.0))
IDLE = "10 5 us\n100 10 us\n900 20 us\n30000 1 ms\n"
# Two calls of 100 bytes in 30 us, three times their 10; one of 30,000 in 2 ms, twice its 1.
OF_LAST = {30: 2, 2000: 1}
SLOWDOWNS_OF_LAST = {3: 2, 2: 1}


def directory_of_several_sizes(directory: Path, slowdowns: list[str]) -> Path:
    rtt = [[histogram({5: 9, 20: 1})]] * 99 + [[histogram(OF_LAST)]]
    rows = rows_of(rtt, [[]] * 99 + [slowdowns], SEVERAL)
    (directory / "HomaP8_table_1_experiment.txt").write_text(experiment_text(rows))
    (directory / "homa_table_baseline.txt").write_text(IDLE)
    return directory


def test_slowdowns_of_several_sizes_are_those_of_the_calls(tmp_path: Path) -> None:
    """Over the baseline of the largest alone they would be 0.03 at the median."""
    made = directory_of_several_sizes(tmp_path, [histogram(SLOWDOWNS_OF_LAST)])
    small, last = slowdowns_in(made)
    assert (small.median, small.p99) == pytest.approx((5 / 5, 20 / 5), rel=1e-3)
    assert (last.size, last.samples, last.fraction) == (30_000, 3, 1.0)
    assert (last.median, last.p99) == pytest.approx((3, 3), rel=1e-3)
    assert last.mean == pytest.approx((3 + 3 + 2) / 3, rel=1e-3)
    assert read_experiment(made / "HomaP8_table_1_experiment.txt")[1].least_size == 100
    # What the artifact's scripts take for a row is what it was.
    text = (made / "HomaP8_table_1_experiment.txt").read_text().splitlines()
    assert [len(line.split()) for line in text if line.split()[0].isdigit()] == [9, 9]


def test_several_sizes_without_a_baseline_have_no_slowdowns(tmp_path: Path) -> None:
    text = error_of(directory_of_several_sizes(tmp_path, []))
    assert "HomaP8_table_1_experiment.txt: measured without a baseline" in text
    # Beside another experiment, it is the other one that is shown.
    (tmp_path / "HomaP8_table_2_experiment.txt").write_text("10 1 5 5 5 5 5 5 5\n")
    (row,) = slowdowns_in(tmp_path)
    assert row.load == "2"


@pytest.mark.parametrize(
    "line",
    [
        "Sizes 10 to 3",
        "Sizes 1 to 4",
        "Sizes x to 3",
        "Sizes 1 to 3, slowdown mean 1 median 2",
        "Sizes 1 to 3, slowdown mean 1 median 2 p99 nan",
    ],
)
def test_a_damaged_line_of_sizes_is_named(directory: Path, line: str) -> None:
    path = directory / "HomaP8_W3_76_experiment.txt"
    path.write_text(f"3 1000 4.4 9.5 8.6 12.0 14.6 20.1 31.0\n{line}\n")
    assert f"{path}:2: '{line}' is not accepted" in error_of(directory)
    path.write_text(f"{line}\n")
    assert f"{path}:1: " in error_of(directory)


def test_the_least_size_of_each_hundredth() -> None:
    """A size of 6.5 % is in the first seven; one that ends with a hundredth is not in the next."""
    sizes = Distribution((3, 8, 9), (0.065, 0.5, 1.0))
    least = sizes.least_of_hundredths()
    assert least == [3] * 7 + [8] * 43 + [9] * 50
    assert sizes.largest_of_hundredths()[5:8] == [3, 8, 8]
    assert distribution_of({"bytes": 7}, "7B").least_of_hundredths() == [7] * 100


def test_workloads_of_the_paper_are_known_by_their_names() -> None:
    assert sizes_of("W3") == ("W3", {})
    assert sizes_of("W4-divided2.5-capped1000-oneway") == ("W4", {"divide": 2.5, "cap": 1000})
    assert [sizes_of(name) for name in ("W9", "W3-mine", "100B", "table")] == [None] * 4


def test_the_directory_that_one_holds_is_meant(directory: Path, tmp_path: Path) -> None:
    assert only_one_in(directory) == directory
    holder = tmp_path / "holder"
    first = holder / "homa_experiment_20190101000000"
    first.mkdir(parents=True)
    assert only_one_in(holder) == first
    second = holder / "homa_experiment_20190102000000"
    second.mkdir()
    with pytest.raises(TurntableError, match=f"expected one of {first}, {second}"):
        only_one_in(holder)


# --- A run


def test_a_run_becomes_a_directory_of_the_artifact(tmp_path: Path) -> None:
    files = export_run(RECORDED, tmp_path)
    assert files[0].parent.name.startswith("homa_experiment_20")
    rows = slowdowns_in(files[0].parent)
    run = load_run(RECORDED)
    assert {row.name for row in rows} == {"Basic", "HomaP8"}
    for name, method in (("Basic", "basic"), ("HomaP8", "homa-p8")):
        (turn,) = (turn for turn in run.turns if turn.parameters["method"] == method)
        own = [row for row in rows if row.name == name]
        assert sum(row.samples for row in own) == turn.measurements[0].clients.answered
        assert own[0].size == 3
        # 3 bytes are 6.5 % of W3's messages: hundredths 0 to 5, counted by another library.
        merged = HdrHistogram(1, 1_000_000_000_000, 3)
        for text in turn.measurements[0].clients.rtt_of_hundredths()[:6]:
            for one in text:
                merged.add(HdrHistogram.decode(one))
        idle_ns = min(idle[3] for t in run.turns for idle in t.measurements[0].clients.idle_ns)
        expected = merged.get_value_at_percentile(99) / idle_ns
        assert own[0].p99 == pytest.approx(expected, rel=2e-3)
        # 99 % of W3's messages have at most 31 KB; the rest is the last row.
        assert own[-2].fraction >= 0.99
        assert (own[-1].size, own[-1].fraction) == (1_000_000, 1.0)
        # The last hundredth has sizes that differ a thousandfold.
        last = HdrHistogram(1, 1_000_000_000_000, 3)
        for one in turn.measurements[0].clients.slowdown_of_hundredths()[99]:
            last.add(HdrHistogram.decode(one))
        thousandths = last.get_value_at_percentile(99)
        assert own[-1].p99 == pytest.approx(thousandths / 1000, rel=2e-3)
        assert own[-1].median >= 1


def test_a_run_of_another_system_is_refused(tmp_path: Path) -> None:
    other = Path(__file__).parents[2] / "analysis/recorded/20261120-221649-smoke"
    with pytest.raises(TurntableError, match="expected one of playbooks/homa"):
        export_run(other, tmp_path)
    assert not list(tmp_path.iterdir())
