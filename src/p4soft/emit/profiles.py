"""Tables whose entries name a member of an ActionProfile, or a group of an ActionSelector: the
actions are the members'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4soft.elaborate import TableInstance
from p4soft.emit.externs.base import control_name
from p4soft.emit.externs.hashes import hash_of
from p4soft.emit.state import Emission

if TYPE_CHECKING:
    from p4soft.emit.tables import TableEmitter


def attach(emission: Emission, table: TableInstance) -> None:
    """Makes the table's profile, and its selector, known to the control plane."""
    assert table.implementation is not None and table.profile is not None
    names = [control_name(emission, each.path) for each in (table, table.profile)]
    by_selector = table.implementation is not table.profile
    selector = control_name(emission, table.implementation.path) if by_selector else ""
    emission.attachments.append((names[0], names[1], selector))


def go_to_member(emitter: TableEmitter, table: TableInstance) -> None:
    """`entry_` becomes that of the member; where a group has no active one, the default entry."""
    assert table.implementation is not None and table.profile is not None
    lines = emitter.lines
    lines.add(f"[[maybe_unused]] std::size_t data_start_ = {table.data_start};")
    profile = f"{table.profile.identifier}_"
    with lines.braces("if (found_.hit)"):
        lines.add(f"std::uint64_t member_ = entry_.data<{table.data_start}, 0, 32>();")
        if table.implementation is not table.profile:
            with lines.braces("if (entry_.action() == kOfGroup)"):
                keys = [key.expression for key in table.declaration.selector_keys]
                hash_ = hash_of(emitter, table.implementation.arguments[1], keys)
                chosen = f"{table.implementation.identifier}_.choose(member_, {hash_})"
                lines.add(f"member_ = {chosen};  // or none")
        lines.add(f"const Lookup of_member_ = {profile}.lookup(KeyWords<1>{{member_}});")
        lines.add(
            f"entry_ = of_member_.hit ? of_member_.entry : {table.identifier}_.default_entry();",
            "if (of_member_.hit) data_start_ = 1;  // a member has nothing but data",
        )
    with lines.braces("if (entry_.action() == kDefaultOfMember)"):
        lines.add(
            f"const std::uint64_t member_ = entry_.data<{table.data_start}, 0, 32>();",
            f"entry_ = {profile}.lookup(KeyWords<1>{{member_}}).entry;",
            "data_start_ = 1;",
        )
