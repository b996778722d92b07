"""Gives a host the programs of the controller's build that it lacks.

Documented in plugins/modules/install_programs.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from turntable_core import programs
from turntable_core.errors import TurntableError


class ActionModule(ActionBase):
    TRANSFERS_FILES = True
    _supports_check_mode = True

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        del tmp
        _, arguments = self.validate_argument_spec(
            {
                "source": {"type": "path", "required": True},
                "destination": {"type": "path", "required": True},
                "names": {"type": "list", "elements": "str", "required": True},
                "record": {"type": "dict"},
            }
        )
        source, destination = Path(arguments["source"]), arguments["destination"]
        try:
            wanted = programs.digests_of_build(source, arguments["names"])
        except TurntableError as error:
            raise AnsibleActionFail(str(error)) from error
        different = self._different(wanted, destination)
        record = arguments["record"] or {"path": ""}
        if different and record["path"]:
            recorded = self._record(record, destination, wanted, task_vars or {})
            result["diff"] = recorded["diff"]
            result["warnings"] = recorded.get("warnings", [])
            # The others were changed by somebody who is to keep them.
            different = [
                name for name in different if _kind(destination, name) in recorded["settings"]
            ]
            wanted = {name: wanted[name] for name in different}
        if different and not self._task.check_mode:
            self._install(source, destination, different)
            left = self._different(wanted, destination)
            if left:
                raise AnsibleActionFail(
                    f"{destination}: {', '.join(left)} not as sent; expected the digests of "
                    f"{source}. Is the build or this directory being changed by another process?"
                )
        if not (different and self._task.check_mode):
            self._require_libraries(source, destination, list(wanted))
        return result | {"changed": bool(different), "installed": different}

    def _different(self, wanted: dict[str, str], destination: str) -> list[str]:
        """Names of files that are missing on the host, or not those of the build."""
        there = programs.parse_digests(self._execute(destination, wanted, programs.digest_command))
        return [name for name, digest in wanted.items() if there.get(name) != digest]

    def _record(
        self,
        record: dict[str, str],
        destination: str,
        wanted: dict[str, str],
        task_vars: dict[str, Any],
    ) -> dict[str, Any]:
        """What was there before is on the host's disk; the answer of the module host_settings."""
        arguments = {
            "record": record["path"],
            "testbed": record["testbed"],
            "changed_settings": record["changed_settings"],
            "directories": {destination: "0755"},
            "copied_files": {f"{destination}/{name}": it for name, it in wanted.items()},
        }
        answer = self._execute_module("host_settings", arguments, task_vars=task_vars)
        if answer.get("failed"):
            raise AnsibleActionFail(answer["msg"])
        return answer

    def _install(self, source: Path, destination: str, names: list[str]) -> None:
        staged = self._make_tmp_path()
        try:
            for name in names:
                self._transfer_file(
                    str(source / name), self._connection._shell.join_path(staged, name)
                )
            command = programs.install_command(staged.rstrip("/"), destination, names)
            done = self._low_level_execute_command(command)
        finally:
            self._remove_tmp_path(staged)
        if done["rc"] != 0:
            raise AnsibleActionFail(
                f"{destination}: cannot be written: {done['stderr'].strip()}; expected a directory "
                "for programs, with space for them, and the rights to write it (ansible_become)"
            )

    def _require_libraries(self, source: Path, destination: str, names: list[str]) -> None:
        output = self._execute(destination, names, programs.libraries_command)
        missing = programs.missing_libraries(output)
        if not missing:
            return
        packages = {
            library: next(
                (found for name in names if (found := programs.package_of(library, source / name))),
                None,
            )
            for library in missing
        }
        known = [package for package in dict.fromkeys(packages.values()) if package]
        raise AnsibleActionFail(
            f"programs in {destination} need shared libraries that the host lacks: "
            f"{', '.join(missing)}; expected what the controller has. "
            + (f"On the host: apt-get install {' '.join(known)}" if known else _OTHER_SYSTEM)
        )

    def _execute(self, destination: str, names: Any, command: Any) -> str:
        return self._low_level_execute_command(command(destination, list(names)))["stdout"]


def _kind(destination: str, name: str) -> str:
    """The file's name among the module's settings."""
    return f"program {destination}/{name}"


_OTHER_SYSTEM = (
    "It runs an older release than the controller: build on one like it, and let "
    "turntable_build_dir be that build"
)
