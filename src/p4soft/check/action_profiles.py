"""Tables that share an ActionProfile: a member's action has one number, so they list the same."""

from __future__ import annotations

from p4soft.check.tables import action_scope, unlisted_no_action
from p4soft.elaborate import ExternInstance, Pipeline, TableInstance
from p4soft.errors import unsupported
from p4soft.frontend import syntax

_NO_ACTION = "NoAction"


def align_actions(pipeline: Pipeline) -> None:
    """Gives the tables of each profile the same actions in the same order. Raises P4Error where
    they differ in more than NoAction.
    """
    for profile in pipeline.externs():
        if profile.type.name == "ActionProfile":
            _align(profile, pipeline.users_of(profile))


def _align(profile: ExternInstance, users: list[TableInstance]) -> None:
    for user in users[1:]:
        if _other_actions(user) != _other_actions(users[0]):
            raise unsupported(
                profile.position,
                f"an ActionProfile of tables with different actions ('"
                f"{users[0].declaration.name}' and '{user.declaration.name}')",
                "the same actions in the same order, with the same @tableonly and @defaultonly; "
                f"in {_NO_ACTION} they may differ",
            )
    listed = next((r for user in users if (r := _no_action(user.declaration)) is not None), None)
    names = {tuple(r.name for r in user.declaration.actions) for user in users}
    if listed is None or len(names) == 1:
        return
    for user in users:
        _put_no_action_last(user.declaration, listed)


def _other_actions(table: TableInstance) -> list[tuple[object, str]]:
    return [
        (reference.symbol, action_scope(reference))
        for reference in table.declaration.actions
        if reference.name != _NO_ACTION
    ]


def _no_action(table: syntax.Table) -> syntax.ActionReference | None:
    return next((r for r in table.actions if r.name == _NO_ACTION), None)


def _put_no_action_last(table: syntax.Table, listed: syntax.ActionReference) -> None:
    """A table that does not list it never has it by itself."""
    own = _no_action(table)
    if own is None:
        own = unlisted_no_action(table)
        own.symbol = listed.symbol
    else:
        table.actions.remove(own)
    table.actions.append(own)
