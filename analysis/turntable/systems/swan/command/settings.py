"""What a flag is set to: on the command line, else in the environment, else in the configuration
file, else as the experiment has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable.systems.swan import flags
from turntable.systems.swan.command.words import WHERE
from turntable_core.errors import InputError, TurntableError

PREFIX = "SWAN_"
_OFF = ("", "false", "0", "0s")  # a flag of Swan's that is off says nothing


@dataclass(frozen=True)
class Setting:
    text: str
    where: str  # for messages


Settings = Mapping[str, Setting]  # flag, lower case -> what it is set to


def of_file(path: Path) -> dict[str, Setting]:
    """KEY=VALUE lines; what follows a # at the begin of a line is a comment."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise TurntableError(
            f"{path}: cannot be read: {why}; expected a file of KEY=VALUE lines, as "
            "-config-dump prints them"
        ) from None
    return dict(_pairs(path, lines))


def _pairs(path: Path, lines: list[str]) -> Iterator[tuple[str, Setting]]:
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = text.partition("=")
        where = f"{path}:{number}"
        if not equals:
            raise InputError(where, "line", text, "KEY=VALUE, or a comment that begins with #")
        yield key.strip().lower(), Setting(value.strip().strip("\"'"), where)


def of_environment(environ: Mapping[str, str]) -> dict[str, Setting]:
    return {
        name.removeprefix(PREFIX).lower(): Setting(text, f"environment variable {name}")
        for name, text in environ.items()
        if name.startswith(PREFIX)
    }


def combined(
    given: Mapping[str, str], environ: Mapping[str, str], file: Path | None
) -> dict[str, Setting]:
    of_line = {name: Setting(text, WHERE) for name, text in given.items()}
    return (of_file(file) if file else {}) | of_environment(environ) | of_line


def parameters(settings: Settings) -> dict[str, Any]:
    """Extra variables of the playbook. Raises TurntableError that names all that is refused."""
    found: dict[str, Any] = {}
    faults = []
    for name, setting in settings.items():
        if not setting.text:  # as a dump has what is not set
            continue
        try:
            flag = flags.find(name, setting.where, setting.text)
            found[flag.parameter] = flags.read(flag, setting.where, setting.text)
        except flags.RefusedFlagError as error:
            if setting.text.lower() not in _OFF:
                faults.append(str(error))
        except InputError as error:
            faults.append(str(error))
    if faults:
        raise TurntableError("\n".join(faults))
    by_hand = {"hp_cpus", "l1_cpus", "l3_cpus"} & found.keys()
    return ({"layout": "manual"} if by_hand else {}) | found


def dump(texts: Mapping[str, str], title: str) -> str:
    """The content of a configuration file. texts: flag -> what it is set to; parameters that have
    no flag are told in a comment, as the command takes them.
    """
    lines = [f"# {title}"]
    for name, flag in flags.FLAGS.items():
        text = texts.get(name)
        if not text:
            lines += ["", f"# {flag.does}: {flag.form}", f"# {name.upper()}="]
        else:
            lines += ["", f"# {flag.does}", f"{name.upper()}={text}"]
    others = [f"-e {name}={text}" for name, text in texts.items() if name not in flags.FLAGS]
    if others:
        lines += ["", "# Parameters without a flag, to be given on the command line:"]
        lines += [f"# {each}" for each in others]
    return "\n".join(lines)
