"""import.yml: what the user says of statistics files, where their names do not (docs/import.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from turntable_core.errors import InputError
from turntable_core.schema_check import check
from turntable_core.systems import find
from turntable_core.yaml_document import YamlDocument, read_yaml

FILE_NAME = "import.yml"
_SCHEMA = Path(__file__).with_name("description.schema.json")
_OWN = {  # of a file, beside parameters
    "client": {"description": "Number of the client machine", "type": "integer", "minimum": 0},
    "round": {"description": "Number of the round, from 0", "type": "integer", "minimum": 0},
}
# Parameters that an old result can have: the others are of programs that did not run.
PARAMETERS = (
    *("method", "workload", "servers", "records", "theta", "value_bytes", "cache_size"),
    *("clients", "measure_s", "pattern", "hot_list", "keys_changed", "snapshot_period_s"),
    "target_ops_per_s",
)


@dataclass(frozen=True)
class Description:
    document: YamlDocument | None
    values: Mapping[str, Any]

    @property
    def client_machines(self) -> int:
        return self.values.get("client_machines", 2)

    @property
    def fidelity_class(self) -> str:
        return self.values.get("fidelity_class", "hardware")

    @property
    def seconds(self) -> int:
        return self.values.get("seconds", 75)

    @property
    def rounds(self) -> int:
        """At least."""
        return self.values.get("rounds", 1)

    @property
    def note(self) -> str | None:
        return self.values.get("note")

    def of(self, path: PurePosixPath) -> dict[str, Any]:
        """Parameters, `client` and `round` that it says of a file."""
        said = dict(self.values.get("parameters", {}))
        for pattern, values in self.values.get("files", {}).items():
            if fnmatchcase(str(path), pattern):
                said |= values
        return said

    def check_patterns(self, paths: list[PurePosixPath]) -> None:
        """Raises InputError for one that fits no file: it was meant for one."""
        for pattern in self.values.get("files", {}):
            if not any(fnmatchcase(str(path), pattern) for path in paths):
                where = self.document.where(("files", pattern))
                shown = ", ".join(map(str, paths[:3])) + (", …" if len(paths) > 3 else "")
                raise InputError(where, "files", pattern, f"a pattern of a file; there are {shown}")


def read_description(directory: Path) -> Description:
    """Without the file, nothing is said. Raises TurntableError for what is no description."""
    file = directory / FILE_NAME
    if not file.exists():
        return Description(None, {})
    document = read_yaml(file)
    check(document.value, json.loads(_SCHEMA.read_text(encoding="utf-8")), document.where)
    for root in (("parameters",), *(("files", p) for p in document.value.get("files", {}))):
        _check_parameters(document, root)
    return Description(document, document.value)


def _check_parameters(document: YamlDocument, root: tuple[str, ...]) -> None:
    value = document.value
    for key in root:
        value = value.get(key, {})
    schema = json.loads(find("farreach").schema.read_text(encoding="utf-8"))
    known = schema["$defs"]["parameters"]["properties"]
    of_files = _OWN if root[0] == "files" else {}
    properties = {name: known[name] for name in PARAMETERS} | of_files
    allowed = {"type": "object", "additionalProperties": False, "properties": properties}
    check(value, allowed, document.where, root)
