"""Swan's sensitivity chart: the percentile against load, a line per aggressor, and the SLO."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.swan import sample
from turntable.systems.swan.plot.styles import SLO_COLOUR, Style, styles
from turntable.systems.swan.profile import Field, Profile, profile_of
from turntable_systems.swan.aggressors import BASELINE

_PANEL_IN, _HEAD_IN, _FOOT_IN = 3.1, 0.75, 0.7
_FILLED = 0.12  # opacity

# What lies between the baseline and others is filled: each of them, the worst of all, or none.
EACH, WORST = "each", "worst"


def sensitivity_chart(
    cells: Sequence[CellResult], fill: str | None = WORST, name: str = "sensitivity"
) -> Drawing | None:
    """A panel per cell that has a result. Fields without one are gaps; FAIL is a hollow mark."""
    profiles = [one for one in map(profile_of, cells) if _has_results(one)]
    if not profiles:
        return None
    looks = styles([name for one in profiles for name in one.aggressors])
    columns = min(2, len(profiles))
    rows = -(-len(profiles) // columns)
    height_in = rows * _PANEL_IN + _HEAD_IN + _FOOT_IN

    def paint(figure: Figure) -> None:
        grid = figure.subplots(rows, columns, squeeze=False)
        figure.subplots_adjust(
            wspace=0.16, hspace=0.42, top=1 - _HEAD_IN / height_in, bottom=_FOOT_IN / height_in
        )
        for axes, profile in zip(grid.flat, profiles, strict=False):
            _panel(axes, profile, looks, fill)
        for axes in list(grid.flat)[len(profiles) :]:
            axes.set_axis_off()
        _legend(figure, grid.flat[0])

    first = profiles[0]
    description = (
        f"{first.percentile} of memcached's latency against load, a line for each of "
        f"{', '.join(looks)}; the SLO is {first.slo_us:,.0f} µs; the table has the numbers"
    )
    return drawing.draw(name, description, stamp(cells), height_in, paint)


def stamp(cells: Sequence[CellResult]) -> str:
    """What is counted here are iterations, not rounds."""
    runs = dict.fromkeys(cell.run.name for cell in cells)
    classes = sorted({cell.run.fidelity_class for cell in cells})
    rounds = max(len(cell.turns) for cell in cells)
    kind = "mean, bars: 95 % interval of the geometric mean" if rounds > 2 else "no interval"
    noun = "round" if rounds == 1 else "rounds"
    n = f"n = {rounds} {noun} less iterations that break a rule, {kind}"
    return f"run {', '.join(runs)}  ·  {n}  ·  fidelity class {', '.join(classes)}"


def beside_the_sample(cells: Sequence[CellResult]) -> Drawing | None:
    """Ours at the left, in percent of the SLO against the share of the peak; the sample that Swan
    ships at the right, of other hardware.
    """
    profiles = [one for one in map(profile_of, cells) if _has_results(one)]
    if not profiles:
        return None
    profile, height_in = profiles[0], _PANEL_IN + _FOOT_IN + 1.35

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        figure.subplots_adjust(wspace=0.08, bottom=(_FOOT_IN + 0.95) / height_in)
        ours = {name: _percents(profile, name) for name in profile.aggressors}
        _shares(left, ours, styles(ours))
        drawing.title(left, f"measured: {profile.label}")
        shipped = {name: _published(row) for name, row in sample.sample().items()}
        _shares(right, shipped, styles(shipped))
        drawing.title(right, "Swan's sample, other hardware")
        left.set_ylabel(f"{profile.percentile} in % of the SLO")

    description = (
        "Percentile in percent of the SLO against the share of the peak: measured here, and the "
        "sample profile that Swan ships, which is of other hardware"
    )
    return drawing.draw("beside_the_sample", description, stamp(cells), height_in, paint)


Points = list[tuple[float, float]]  # share of the peak, percent of the SLO


def _percents(profile: Profile, name: str) -> Points:
    return [
        (field.load, nan if field.sli_us is None else 100 * field.sli_us / profile.slo_us)
        for field in profile.row(name)
    ]


def _published(row: sample.Row) -> Points:
    """What is above 300 % has no number: its line ends."""
    found = [(load / sample.PEAK_PER_S, sample.percent(text)) for load, text in row.items()]
    return [(share, nan if value is None else value) for share, value in found]


def _shares(axes: Axes, lines: dict[str, Points], looks: dict[str, Style]) -> None:
    for name, points in lines.items():
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, **looks[name].line, label=name)
    axes.axhline(100, color=SLO_COLOUR, lw=1.4, ls="--", label="SLO")
    axes.set_ylim(0, 200)
    most = max((share for points in lines.values() for share, _ in points), default=1.0)
    axes.set_xlim(0, 1.03 * max(1.0, most))
    axes.set_xlabel("load (share of the peak)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=3, fontsize=8)


def _panel(axes: Axes, profile: Profile, looks: dict[str, Style], fill: str | None) -> None:
    _areas(axes, profile, looks, fill)
    for name in profile.aggressors:
        _line(axes, profile, name, looks[name])
    axes.axhline(profile.slo_us, color=SLO_COLOUR, lw=1.4, ls="--", label="SLO")
    axes.set_ylim(0, 2 * profile.slo_us)
    axes.set_xlim(left=0)
    axes.set_xlabel("target rate (requests/s)")
    axes.set_ylabel(f"{profile.percentile} (µs)")
    drawing.title(axes, profile.label)


def _line(axes: Axes, profile: Profile, name: str, look: Style) -> None:
    row = profile.row(name)
    xs = [_x(profile, field) for field in row]
    axes.plot(xs, [_y(field) for field in row], **look.line, label=name)
    known = [field for field in row if field.sli and field.sli.interval]
    bars = [(field.sli.interval.low, field.sli.interval.high) for field in known]
    if bars:
        axes.vlines(
            [_x(profile, field) for field in known], *zip(*bars, strict=True),
            color=look.colour, lw=1, alpha=0.7,
        )  # fmt: skip
    failed = [field for field in row if field.fails]
    axes.plot(
        [_x(profile, field) for field in failed], [_y(field) for field in failed],
        ls="", marker=look.marker, ms=6, mfc=drawing.PAPER, mec=look.colour,
    )  # fmt: skip


def _areas(axes: Axes, profile: Profile, looks: dict[str, Style], fill: str | None) -> None:
    if fill is None or BASELINE not in profile.aggressors:
        return
    xs = [_x(profile, field) for field in profile.row(BASELINE)]
    base = [_y(field) for field in profile.row(BASELINE)]
    others = {
        name: [_y(field) for field in profile.row(name)]
        for name in profile.aggressors
        if name != BASELINE
    }
    if fill == EACH:
        for name, ys in others.items():
            axes.fill_between(xs, base, ys, color=looks[name].colour, alpha=_FILLED, lw=0)
    elif others:
        worst = [
            max((y for y in ys if not isnan(y)), default=nan)
            for ys in zip(*others.values(), strict=True)
        ]
        axes.fill_between(xs, base, worst, color=drawing.MUTED, alpha=_FILLED, lw=0)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="upper right", bbox_to_anchor=(0.99, 1.0), ncols=5, borderaxespad=0.1,
        fontsize=8.5,
    )  # fmt: skip


def _x(profile: Profile, field: Field) -> float:
    target = profile.target_per_s(field.index)
    return nan if target is None else target


def _y(field: Field) -> float:
    return nan if field.sli_us is None else field.sli_us


def _has_results(profile: Profile) -> bool:
    return any(field.sli for field in profile.fields.values())
