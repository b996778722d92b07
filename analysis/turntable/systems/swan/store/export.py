"""An experiment as one table: a row per iteration, a column per metric, as CSV or Parquet."""

from __future__ import annotations

import errno
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turntable.systems.swan.profile import in_order
from turntable.systems.swan.store import metadata
from turntable.systems.swan.store.store import Store
from turntable_core import files
from turntable_core.errors import TurntableError

if TYPE_CHECKING:
    import pandas as pd

_PLACE = ["cell_label", "aggressor", "load", "loadpoint_qps", "repetition", "time", "valid", "unit"]
_PREFIX = "/turntable/"
_OF_GENERATOR = "mcload/"  # needs no name: qps, avg, 99th


def frame(store: Store, uuid: str) -> pd.DataFrame:
    """Latencies are microseconds; a row that a rule of the verdict leaves out has valid = False.

    Rows are in the order of the report: cells, aggressors, loads; then repetitions.
    """
    import pandas as pd  # noqa: PLC0415

    samples = store.samples(uuid)
    if samples.empty:
        return pd.DataFrame(columns=_PLACE)
    tags = pd.DataFrame([json.loads(text) for text in samples["tags"]])
    for name in ("cell", "cell_label", "load", "valid", "unit"):
        samples[name] = tags.get(name)
    samples["unit"] = samples["unit"].astype("object").where(samples["unit"].notna(), "")
    samples["ns"] = samples["ns"].map(short)
    wide = samples.pivot(index=["phase", "cell", *_PLACE], columns="ns", values="value")
    wide.columns.name = None
    flat = wide.reset_index()
    places = _places(json.loads(store.metadata(uuid)[metadata.CELLS]), set(flat["aggressor"]))
    rows = zip(flat["cell"], flat["aggressor"], strict=True)
    flat["row"] = [places[row] for row in rows]
    ordered = flat.sort_values(["row", "load", "repetition"])
    return ordered.drop(columns=["row", "cell"]).reset_index(drop=True)


def _places(
    cells: Mapping[str, Mapping[str, Any]], present: Collection[str]
) -> dict[tuple[str, str], int]:
    """Cell and aggressor -> where their rows stand."""
    rows = [(cell, name) for cell in cells for name in in_order(cells[cell], present)]
    return {row: place for place, row in enumerate(rows)}


def short(ns: str) -> str:
    """/turntable/mcload/percentile/99th -> 99th; /turntable/aggressor/progress ->
    aggressor_progress.
    """
    name = ns.removeprefix(_PREFIX).removeprefix(_OF_GENERATOR)
    return name.replace("percentile/", "").replace("/", "_")


def write_csv(found: pd.DataFrame, file: Path) -> None:
    """Raises OSError; then a plain file is as it was."""
    _write(file, found.to_csv(index=False).encode())


def write_parquet(found: pd.DataFrame, file: Path) -> None:
    """As write_csv. Raises TurntableError where pyarrow, which is large, is not installed."""
    try:
        _write(file, found.to_parquet(engine="pyarrow", index=False))
    except ImportError:
        raise TurntableError(
            f"{file}: Parquet needs pyarrow, which is not installed; expected it beside the rest: "
            ".venv/bin/pip install pyarrow. --csv FILE needs nothing"
        ) from None


def _write(file: Path, data: bytes) -> None:
    # Not to be replaced: a link such as /dev/stdout, a pipe, a device.
    if file.is_symlink() or (file.exists() and not file.is_file()):
        file.write_bytes(data)
        return
    if not file.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such directory")
    files.replace(file, data)
