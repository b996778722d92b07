"""ActionProfile and ActionSelector: members and groups, and the tables that name them."""

from __future__ import annotations

from p4soft.elaborate import ExternInstance, Pipeline, TableInstance
from p4soft.emit.bfrt.actions import action_specs
from p4soft.emit.bfrt.documents import (
    UINT32,
    UINT64,
    Document,
    datum,
    indexed,
    key_field,
    table_document,
)

_MEMBER, _GROUP = (65539, "$ACTION_MEMBER_ID"), (65540, "$SELECTOR_GROUP_ID")
_STATUS, _GROUP_SIZE = (65564, "$ACTION_MEMBER_STATUS"), (65565, "$MAX_GROUP_SIZE")
_OFFSET, _NO_OFFSET = (65566, "$ADT_OFFSET"), 0xDEADBEEF  # which lets the driver choose
# Of the question which member a hash chooses; the same names have other numbers there.
_ASKED_GROUP, _HASH = (65563, "$SELECTOR_GROUP_ID"), (65583, "hash_value")
_CHOSEN_MEMBER = (65562, "$ACTION_MEMBER_ID")


def named_member(table: TableInstance) -> Document:
    """The data of an entry that has no action of its own: a member or, by a selector, a group."""
    member, group = (datum(*which, UINT32)["singleton"] for which in (_MEMBER, _GROUP))
    by_selector = table.implementation is not table.profile
    either = {"oneof": [member, group]} if by_selector else {"singleton": member}
    return {"mandatory": True, "read_only": False, **either}


def profile(pipeline: Pipeline, instance: ExternInstance) -> list[Document]:
    """None without a table that uses it. Those that do have the same actions, but for where
    NoAction may be; the members have what any of them lets entries have.
    """
    users = pipeline.users_of(instance)
    if not users:
        return []
    specs = [action_specs(user) for user in users]
    widest = max(
        specs, key=lambda actions: sum(a["action_scope"] != "DefaultOnly" for a in actions)
    )
    return [indexed(pipeline.name, instance, "Action", _MEMBER, data=[], action_specs=widest)]


def selector(pipeline: Pipeline, instance: ExternInstance) -> list[Document]:
    """Its groups, and which member a hash chooses; none without a table that uses its profile."""
    of, _, _, group_size, groups = instance.arguments
    if not pipeline.users_of(of):
        return []
    data = [
        datum(*_MEMBER, UINT32, repeated=True),
        datum(*_STATUS, {"type": "bool"}, repeated=True),
        datum(*_GROUP_SIZE, {**UINT32, "default_value": group_size}),
        datum(*_OFFSET, {**UINT32, "default_value": _NO_OFFSET}),
    ]
    pipe, depends_on = pipeline.name, [of.path]
    return [
        indexed(pipe, instance, "Selector", _GROUP, size=groups, data=data, depends_on=depends_on),
        _choice(pipe, instance),
    ]


def _choice(pipe: str, instance: ExternInstance) -> Document:
    return table_document(
        pipe,
        f"{instance.path}_get_member",
        "SelectorGetMember",
        1,
        key=[key_field(*which, UINT64, "Exact", mandatory=True) for which in (_ASKED_GROUP, _HASH)],
        data=[datum(*_CHOSEN_MEMBER, UINT64)],
        depends_on=[instance.path],
    )
