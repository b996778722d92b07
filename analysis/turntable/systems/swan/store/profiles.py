"""Profiles of an experiment, from the store alone: its run may be gone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from turntable.systems.swan.profile import Profile, Repetition, assemble
from turntable.systems.swan.store import metadata
from turntable.systems.swan.store.rows import AGGRESSOR, MCLOAD
from turntable.systems.swan.store.store import Store
from turntable_core.errors import TurntableError
from turntable_systems.swan.aggressors import BASELINE, names
from turntable_systems.swan.loads import loads


def profiles_of(store: Store, uuid: str, every: bool = False, **changes: Any) -> list[Profile]:
    """In the order of the cells; those of which nothing was measured are in `unmeasured`. every:
    iterations that break a rule count, too. changes: of parameters, such as another slo_us.

    Raises TurntableError where nothing of the experiment was measured.
    """
    general = store.metadata(uuid)
    iterations = list(_iterations(store, uuid))
    if not iterations:
        raise TurntableError(
            f"experiment {uuid}: nothing of it is stored; expected a run that has measured "
            "something. `swan list` shows its name"
        )
    cells, peaks = json.loads(general[metadata.CELLS]), json.loads(general[metadata.PEAKS])
    found: dict[str, list[tuple[Mapping[str, Any], Mapping[str, float]]]] = {}
    for tags, values in iterations:
        found.setdefault(tags["cell"], []).append((tags, values))
    return [
        _profile(cells[cell] | changes, found[cell], peaks.get(cell), every)
        for cell in cells
        if cell in found
    ]


def unmeasured(store: Store, uuid: str) -> list[str]:
    """The cells of which nothing is stored, by what tells them apart: "isolation idle"."""
    cells = json.loads(store.metadata(uuid)[metadata.CELLS])
    measured = {tags["cell"] for tags, _ in _iterations(store, uuid)}
    telling = [name for name, values in metadata.levels(list(cells.values())).items() if values[1:]]
    return [
        ", ".join(f"{name} {cell[name]}" for name in telling if name in cell)
        for id_, cell in cells.items()
        if id_ not in measured
    ]


def _iterations(store: Store, uuid: str) -> Iterator[tuple[Mapping[str, Any], Mapping[str, float]]]:
    """Tags, and values by namespace."""
    for _, rows in store.samples(uuid).groupby("phase", sort=False):
        yield json.loads(rows["tags"].iloc[0]), dict(zip(rows["ns"], rows["value"], strict=True))


def _profile(
    parameters: Mapping[str, Any],
    iterations: list[tuple[Mapping[str, Any], Mapping[str, float]]],
    peak_per_s: float | None,
    every: bool,
) -> Profile:
    # What was planned has its row and column, whether it was measured or not.
    shares = dict(enumerate(loads(parameters)))
    rows = [BASELINE] * bool(parameters["baselines"]) + list(names(parameters))
    found: dict[tuple[str, int], list[Repetition]] = {
        (name, index): [] for name in rows for index in shares
    }
    for tags, values in iterations:
        key = (tags["swan_aggressor_name"], tags["load_index"])
        found[key].append(_repetition(tags, values, every))
    label = iterations[0][0]["cell_label"]
    return assemble(label, parameters, found, shares, peak_per_s)


def _repetition(tags: Mapping[str, Any], values: Mapping[str, float], every: bool) -> Repetition:
    return Repetition(
        round=tags["round"],
        repeat=0,
        sli_us=values.get(f"{MCLOAD}/sli"),
        from_send_us=values.get(f"{MCLOAD}/from_send/sli"),
        target_per_s=values[f"{MCLOAD}/target_qps"],
        offered_per_s=values.get(f"{MCLOAD}/offered_qps", values[f"{MCLOAD}/target_qps"]),
        achieved_per_s=values[f"{MCLOAD}/qps"],
        progress_per_s=values.get(f"{AGGRESSOR}/progress"),
        unit=tags.get("unit"),
        reasons=() if every else tuple(tags["reasons"]),
    )
