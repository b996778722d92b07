"""An experiment as one table: a row per iteration, a column per metric, as CSV or Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from turntable.systems.swan.store.store import Store
from turntable_core.errors import TurntableError

if TYPE_CHECKING:
    import pandas as pd

_PLACE = ["cell_label", "aggressor", "load", "loadpoint_qps", "repetition", "time", "valid", "unit"]
_PREFIX = "/turntable/"
_OF_GENERATOR = "mcload/"  # needs no name: qps, avg, 99th


def frame(store: Store, uuid: str) -> pd.DataFrame:
    """Latencies are microseconds; a row that a rule of the verdict leaves out has valid = False."""
    import pandas as pd  # noqa: PLC0415

    samples = store.samples(uuid)
    if samples.empty:
        return pd.DataFrame(columns=_PLACE)
    tags = pd.DataFrame([json.loads(text) for text in samples["tags"]])
    for name in ("cell_label", "load", "valid", "unit"):
        samples[name] = tags.get(name)
    samples["unit"] = samples["unit"].astype("object").where(samples["unit"].notna(), "")
    samples["ns"] = samples["ns"].map(short)
    wide = samples.pivot(index=["phase", *_PLACE], columns="ns", values="value")
    wide.columns.name = None
    order = ["cell_label", "aggressor", "loadpoint_qps", "repetition"]
    return wide.reset_index().sort_values(order).reset_index(drop=True)


def short(ns: str) -> str:
    """/turntable/mcload/percentile/99th -> 99th; /turntable/aggressor/progress ->
    aggressor_progress.
    """
    name = ns.removeprefix(_PREFIX).removeprefix(_OF_GENERATOR)
    return name.replace("percentile/", "").replace("/", "_")


def write_csv(found: pd.DataFrame, file: Path) -> None:
    found.to_csv(file, index=False)


def write_parquet(found: pd.DataFrame, file: Path) -> None:
    """Raises TurntableError where pyarrow, which is large, is not installed."""
    try:
        found.to_parquet(file, engine="pyarrow", index=False)
    except ImportError:
        raise TurntableError(
            f"{file}: Parquet needs pyarrow, which is not installed; expected it beside the rest: "
            ".venv/bin/pip install pyarrow. --csv FILE needs nothing"
        ) from None
