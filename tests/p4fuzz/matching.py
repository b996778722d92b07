"""Which entry of a table matches."""

from __future__ import annotations

from . import tree


def matching_entry(table: tree.Table, keys: list[int]) -> tree.Entry | None:
    """The one of lowest priority where the control plane gave priorities, and of those in the
    program the first; of lpm entries alone the longest.
    """
    matching = [entry for entry in table.entries if _all_match(table, entry, keys)]
    if not matching:
        return None
    if table.has_priorities():
        return matching[0] if table.is_constant else min(matching, key=lambda e: e.priority)
    return max(matching, key=lambda entry: _prefix_bits(table, entry))


def _all_match(table: tree.Table, entry: tree.Entry, keys: list[int]) -> bool:
    triples = zip(table.keys, entry.matches, keys, strict=True)
    return all(matches(key, match, value) for key, match, value in triples)


def matches(key: tree.Key, match: tree.Match, value: int) -> bool:
    if key.kind == "exact":
        return value == match.first
    if key.kind == "range":
        return match.first <= value <= match.second
    mask = match.second
    if key.kind == "lpm":
        assert isinstance(key.expression.type, tree.Bits)
        full = (1 << key.expression.type.width) - 1
        mask = full ^ (full >> match.second)
    return (value ^ match.first) & mask == 0


def _prefix_bits(table: tree.Table, entry: tree.Entry) -> int:
    pairs = zip(table.keys, entry.matches, strict=True)
    return sum(match.second for key, match in pairs if key.kind == "lpm")


def chosen_member(group: tree.Group, mode: str, hash_: int) -> int | None:
    """As docs/p4soft.md says: FAIR: the hash modulo the active weights; RESILIENT: modulo all
    weights, and where that member is not active, what is left of the hash among the active ones.
    """
    triples = list(zip(group.members, group.active, group.weights, strict=True))
    every = [(member, active) for member, active, weight in triples for _ in range(weight)]
    usable = [member for member, active in every if active]
    if not usable:
        return None
    if mode == "RESILIENT":
        member, active = every[hash_ % len(every)]
        if active:
            return member
        hash_ //= len(every)
    return usable[hash_ % len(usable)]
