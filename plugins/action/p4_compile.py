"""Documented in plugins/modules/p4_compile.py."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

from ansible.errors import AnsibleActionFail

from turntable_core.kept_program import source_files
from turntable_sde.action import SwitchAction


class ActionModule(SwitchAction):
    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        del tmp
        _, arguments = self.validate_argument_spec(
            {
                "name": {"type": "str", "required": True},
                "source": {"type": "path", "required": True},
                "flags": {"type": "list", "elements": "str", "default": []},
                "compiler": {"type": "path", "required": True},
                "version": {"type": "str", "default": ""},
                "root": {"type": "path", "required": True},
                "environment": {"type": "dict", "default": {}},
                "deadline_s": {"type": "int", "default": 3600},
                "reports": {"type": "path"},
            }
        )
        reports = arguments.pop("reports")
        top, sources = sources_of(Path(arguments.pop("source")))
        done = self.call("compile", top=top, sources=sources, check=self.checks_only, **arguments)
        fetched: list[str] = []
        if reports and "reports" in done:
            fetched = self._fetch(done, Path(reports))
        return result | done | {"fetched": fetched, "changed": done["changed"] or bool(fetched)}

    def _fetch(self, done: dict[str, Any], directory: Path) -> list[str]:
        """Reports that the controller does not have, or has of another compilation."""
        mark = directory / "digest"
        paths = {path: directory / PurePosixPath(path).name for path in done["reports"]}
        if (
            mark.exists()
            and mark.read_text() == done["digest"]
            and all(path.exists() for path in paths.values())
        ):
            return []
        if self.checks_only:
            return [str(path) for path in paths.values()]
        directory.mkdir(parents=True, exist_ok=True)
        for path, text in self.call("files", paths=list(paths)).items():
            paths[path].write_bytes(zlib.decompress(base64.b64decode(text)))
        mark.write_text(done["digest"])
        return [str(path) for path in paths.values()]


def sources_of(program: Path) -> tuple[str, dict[str, str]]:
    """The program's path below p4/, and text by path of what it may include: its directory and
    p4/shared.
    """
    if not program.is_file():
        raise AnsibleActionFail(f"{program} is missing; expected the top file of a P4 program")
    root = program.parent.parent
    sources = {p.relative_to(root).as_posix(): p.read_text() for p in source_files(program)}
    return program.relative_to(root).as_posix(), sources
