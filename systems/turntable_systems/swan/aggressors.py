"""The jobs beside memcached: experiments/swan/jobs/aggressors.yml, and a file of one's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from turntable_core.errors import TurntableError
from turntable_core.schema_check import check
from turntable_core.yaml_document import read_yaml
from turntable_systems.swan.loads import SEPARATOR

_REPOSITORY = Path(__file__).resolve().parents[3]
_JOBS = _REPOSITORY / "experiments" / "swan" / "jobs"
SHIPPED = _JOBS / "aggressors.yml"
_SCHEMA = _JOBS / "aggressors.schema.json"

BASELINE = "Baseline"  # Swan's name of the rows without an aggressor
PLACEBO = "placebo"

Job = Mapping[str, Any]


def names(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """As the experiment lists them."""
    text = str(parameters["aggressors"])
    return tuple(text.split(SEPARATOR)) if text else ()


def known(parameters: Mapping[str, Any]) -> dict[str, Job]:
    """Name -> job. One of the file `aggressors_file` goes before a shipped one of its name. Raises
    TurntableError for a file that cannot be read, or says something else.
    """
    own = parameters["aggressors_file"]
    return {**_read(SHIPPED), **(_read(_REPOSITORY / own) if own else {})}


def of(parameters: Mapping[str, Any], name: str) -> Job:
    """A job as the colocator starts it."""
    job = known(parameters)[name]
    return {"count": parameters["be_processes"], **job, "name": name}


@cache
def _read(file: Path) -> dict[str, Job]:
    try:
        document = read_yaml(file)
    except OSError as error:
        raise TurntableError(f"{file}: cannot be read: {error.strerror}") from None
    schema = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    check(document.value, schema, document.where)
    return dict(document.value)
