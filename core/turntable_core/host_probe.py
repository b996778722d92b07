"""Looks at a host with one shell command: the outputs of many, each named and bounded.

The script needs a POSIX shell, `tail` and `base64`; it changes nothing. An output travels as
base64, so that whatever a log holds keeps its bytes and cannot be taken for a heading.
"""

from __future__ import annotations

import base64
import binascii
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

_PRELUDE = 'show() { echo "@$1"; tail -c "$2" | base64; }'
TEXT_BYTES = 64 * 1024


@dataclass(frozen=True)
class Look:
    """What a shell command prints on either output, the last `limit_bytes` of it."""

    name: str
    command: str
    limit_bytes: int = TEXT_BYTES


def ask_nodes(run_dir: str, bin_dir: str, answer_s: int) -> str:
    """Shell code: every node of a host says who it is, a supervisor also what it runs.

    Shown as `answers-<node>.json`, what `nodectl` prints. A node that hangs costs `answer_s`.
    """
    directory, nodectl = shlex.quote(run_dir), shlex.quote(f"{bin_dir}/nodectl")
    return (
        f"for socket in {directory}/*.sock; do "
        '[ -S "$socket" ] || continue; node=${socket##*/}; node=${node%.sock}; '
        'if [ "$node" = supervisor ]; then more=\',{"node":"supervisor","command":"list"}\'; '
        "else more=; fi; "
        'printf \'[{"node":"%s","command":"ping"}%s]\' "$node" "$more" | '
        f"{nodectl} --directory {directory} --deadline {answer_s} 2>&1 | "
        f'show "answers-$node.json" {TEXT_BYTES}; done'
    )


def script(looks: Iterable[Look], before: str = "", after: str = "") -> str:
    """For the host's shell. before, after: shell code that calls `show NAME BYTES` itself."""
    shown = [
        f"{{ {look.command}; }} 2>&1 </dev/null | show {shlex.quote(look.name)} {look.limit_bytes}"
        for look in looks
    ]
    return "\n".join(part for part in (_PRELUDE, before, *shown, after, "true") if part)


def parse(output: bytes) -> dict[str, bytes]:
    """Name -> what was seen, of what `script` printed; a last look cut off is left out."""
    seen: dict[str, bytes] = {}
    for part in output.split(b"@")[1:]:
        name, _, content = part.partition(b"\n")
        try:
            seen[name.decode(errors="replace")] = base64.b64decode(content)
        except binascii.Error:
            continue
    return seen
