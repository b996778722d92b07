"""Tables: keys, actions, default action, entries and properties."""

from __future__ import annotations

from p4soft.check import types
from p4soft.check.conversion import convert
from p4soft.check.entry_order import (
    DELTA,
    LARGEST_WINS,
    check_priorities,
    has_priorities,
    in_order,
)
from p4soft.check.operators import is_known
from p4soft.check.sizes import check_size_type
from p4soft.check.statements import StatementChecker
from p4soft.check.symbols import ActionSymbol, InstanceSymbol, TableSymbol, near
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax
from p4soft.tree import shape

SUPPORTED_KINDS = ("exact", "lpm", "ternary", "range", "selector", "atcam_partition_index")
MAX_RANGE_WIDTH = 20  # bits, Tofino 1
IMPLEMENTATIONS = ("ActionProfile", "ActionSelector")
# Properties that say by which algorithm the ASIC looks up, and the extern that each may be. What
# is found, and how the control plane writes it, is the same without them.
ALGORITHMS = {"alpm": "Alpm", "atcam": "Atcam", "proxy_hash": "Hash"}
# Properties that attach a direct extern.
DIRECT = {
    "counters": ("DirectCounter",),
    "meters": ("DirectMeter",),
    "filters": ("DirectLpf", "DirectWred", "Lpf", "Wred"),
    "registers": ("DirectRegister",),
}
# Properties that only guide placement or the driver on the ASIC.
_HINTS = ("requires_versioning",)


class TableChecker(StatementChecker):
    def declare_table(self, table: syntax.Table) -> None:
        self._keys(table)
        self._actions(table)
        self._default_action(table)
        self._properties(table)
        self._selector_keys(table)
        if table.entries is not None:
            self._entries(table)
        table.symbol = TableSymbol(table.name, table.position, table, types.TableType(table))
        self.scope.declare(table.symbol)

    def _keys(self, table: syntax.Table) -> None:
        for key in table.keys:
            if key.match_kind not in self.match_kinds:
                hint = near(key.match_kind, list(SUPPORTED_KINDS))
                raise P4Error(key.position, f"match kind '{key.match_kind}' is not declared{hint}")
            if key.match_kind not in SUPPORTED_KINDS:
                raise unsupported(
                    key.position, f"match kind '{key.match_kind}'", ", ".join(SUPPORTED_KINDS)
                )
            type_ = types.underlying(self.check(key.expression))
            width = types.width_of(type_)
            if not isinstance(type_, (types.Bit, types.Int)) and type_ != types.BOOL:
                raise P4Error(
                    key.position,
                    f"a key of type {key.expression.type}; expected bit<W>, int<W>, bool or a "
                    "serializable enum",
                )
            assert width is not None
            if key.match_kind == "range" and width > MAX_RANGE_WIDTH:
                raise P4Error(
                    key.position,
                    f"a range key of {width} bits; Tofino matches ranges of at most "
                    f"{MAX_RANGE_WIDTH} bits",
                )
        kinds = [key.match_kind for key in table.keys]
        if kinds.count("lpm") > 1:
            raise P4Error(
                table.position,
                f"table '{table.name}' has {kinds.count('lpm')} lpm keys; expected at most one",
            )

    def _actions(self, table: syntax.Table) -> None:
        names: set[str] = set()
        for reference in table.actions:
            if reference.name in names:
                raise P4Error(reference.position, f"action '{reference.name}' is listed twice")
            names.add(reference.name)
            action = self._action(reference)
            directed = self.bind(
                action.directed,
                reference.arguments or [],
                reference.position,
                f"action '{action.name}'",
            )
            self.check_arguments(action.directed, directed, f"action '{action.name}'")
            reference.values = directed

    def _action(self, reference: syntax.ActionReference) -> ActionSymbol:
        symbol = self.scope.require(reference.name, reference.position, reference.is_global)
        if not isinstance(symbol, ActionSymbol):
            raise P4Error(reference.position, f"'{reference.name}' is not an action")
        reference.symbol = symbol
        return symbol

    def _default_action(self, table: syntax.Table) -> None:
        reference = table.default_action
        if reference is None:
            self._no_action(table)
            return
        listed = self._choose(table, reference, "the default action")
        if syntax.annotation(listed.annotations, "tableonly"):
            raise P4Error(
                reference.position,
                f"action '{reference.name}' is @tableonly; it cannot be the default action",
            )

    def _no_action(self, table: syntax.Table) -> None:
        """Without default_action it is NoAction, which then need not be listed."""
        listed = any(reference.name == "NoAction" for reference in table.actions)
        if not listed:
            implicit = unlisted_no_action(table)
            self._action(implicit)
            table.actions.append(implicit)
        table.default_action = syntax.ActionReference(table.position, "NoAction", None, [])
        self._action(table.default_action)

    def _choose(
        self, table: syntax.Table, reference: syntax.ActionReference, what: str
    ) -> syntax.ActionReference:
        """Resolves `action(values)` of a default or an entry; returns its line in `actions`."""
        listed = next((a for a in table.actions if a.name == reference.name), None)
        if listed is None:
            names = ", ".join(a.name for a in table.actions) or "none"
            raise P4Error(
                reference.position,
                f"{what} '{reference.name}' is not among the actions of '{table.name}': {names}",
            )
        action = self._action(reference)
        data = action.data
        values = self.bind(
            data,
            self._without_bound(reference, listed, action),
            reference.position,
            f"action '{action.name}'",
        )
        self.check_arguments(data, values, f"action '{action.name}'")
        for parameter, value in zip(data, values, strict=True):
            if value is None or value.value is None:
                raise P4Error(
                    reference.position, f"the value of '{parameter.name}' must be a constant"
                )
        reference.values = [value.value for value in values if value is not None]
        return listed

    def _without_bound(
        self,
        reference: syntax.ActionReference,
        listed: syntax.ActionReference,
        action: ActionSymbol,
    ) -> list[syntax.Argument]:
        """The arguments for data. Those that the list of actions gives, which may be repeated
        before these, must be the same (P4-16 specification, 14.2.1.3).
        """
        given, bound = reference.arguments or [], listed.arguments or []
        if len(given) <= len(action.data):
            return given
        repeated, rest = given[: len(bound)], given[len(bound) :]
        for again, before in zip(repeated, bound, strict=False):
            if shape(again) != shape(before):
                raise P4Error(
                    again.position,
                    f"the list of actions gives '{action.name}' another argument here; expected "
                    "the same, or those for data alone",
                )
        return rest

    # --- Entries ----------------------------------------------------------------------------------

    def _entries(self, table: syntax.Table) -> None:
        assert table.entries is not None
        if not table.keys:
            raise P4Error(table.position, f"table '{table.name}' has entries but no keys")
        check_priorities(table)
        for entry in table.entries:
            if entry.priority is not None:
                self.constant_integer(entry.priority, "an entry's priority")
            keys = entry.keys
            if len(keys) == 1 and isinstance(keys[0], syntax.DefaultExpression):
                keys = entry.keys = [syntax.DefaultExpression(keys[0].position) for _ in table.keys]
            if len(keys) != len(table.keys):
                raise P4Error(
                    entry.position,
                    f"this entry has {len(keys)} keys, table '{table.name}' has {len(table.keys)}",
                )
            for value, key in zip(keys, table.keys, strict=True):
                assert key.expression.type is not None
                self.key_element(value, types.underlying(key.expression.type))
                self._fits_kind(value, key.matches)
            listed = self._choose(table, entry.action, "the action")
            if syntax.annotation(listed.annotations, "defaultonly"):
                raise P4Error(
                    entry.action.position,
                    f"action '{entry.action.name}' is @defaultonly; it cannot be in an entry",
                )

        if not has_priorities(table):
            self._no_duplicates(table.entries)
        table.entries = in_order(table)

    def _no_duplicates(self, entries: list[syntax.TableEntry]) -> None:
        seen: set[tuple[object, ...]] = set()
        for entry in entries:
            values = tuple(
                (key.base.value & key.mask.value, key.mask.value)
                if isinstance(key, syntax.MaskExpression)
                else key.value
                for key in entry.keys
            )
            if values in seen:
                raise P4Error(entry.position, "this entry has the same key as an earlier one")
            seen.add(values)

    def _fits_kind(self, value: syntax.Expression, kind: str) -> None:
        if kind == "exact" and isinstance(
            value, (syntax.MaskExpression, syntax.RangeExpression, syntax.DefaultExpression)
        ):
            raise P4Error(
                value.position, "an exact key needs one value; masks, ranges and '_' do not fit it"
            )
        if isinstance(value, syntax.RangeExpression) and kind != "range":
            raise P4Error(value.position, f"a range does not fit a key of kind {kind}")
        if isinstance(value, syntax.MaskExpression) and kind == "range":
            raise P4Error(value.position, "a mask does not fit a key of kind range")
        if isinstance(value, syntax.MaskExpression) and kind == "lpm":
            inverted = ~value.mask.value & ((1 << (types.width_of(value.mask.type) or 0)) - 1)
            if inverted & (inverted + 1):
                raise P4Error(
                    value.position, "the mask of an lpm key must be a prefix: ones, then zeros"
                )

    def key_element(self, value: syntax.Expression, type_: types.Type) -> None:
        """One element of a key set (a select case or a table entry), all constant."""
        if isinstance(value, syntax.DefaultExpression):
            value.type = type_
            return
        parts = [value]
        if isinstance(value, syntax.MaskExpression):
            parts = [value.base, value.mask]
        elif isinstance(value, syntax.RangeExpression):
            parts = [value.low, value.high]
        for part in parts:
            self.check(part)
            if isinstance(part.type, types.Enum) and part.type.base == type_:
                part.type = type_
            convert(part, type_, "the key")
            if part.value is None:
                raise P4Error(part.position, "a key must be a constant")
        if isinstance(value, syntax.RangeExpression) and value.low.value > value.high.value:
            raise P4Error(
                value.position, f"the range {value.low.value}..{value.high.value} is empty"
            )
        value.type = type_

    # --- Properties -------------------------------------------------------------------------------

    def _properties(self, table: syntax.Table) -> None:
        for item in table.properties:
            if item.name == "size":
                self._table_size(item.value)
            elif item.name == "idle_timeout":
                self._idle_timeout(table, item)
            elif item.name in DIRECT:
                self._direct(item)
            elif item.name in ALGORITHMS:
                self._algorithm(item, ALGORITHMS[item.name])
            elif item.name == "implementation":
                self._implementation(table, item)
            elif item.name == LARGEST_WINS:
                self._constant_bool(item)
            elif item.name == DELTA:
                self._positive(item)
            elif item.name in _HINTS:
                self.check(item.value)
            else:
                raise unsupported(
                    item.position,
                    f"table property '{item.name}'",
                    "key, actions, default_action, entries, size, implementation, idle_timeout, "
                    + ", ".join([*DIRECT, *ALGORITHMS, LARGEST_WINS, DELTA, *_HINTS]),
                )

    def _table_size(self, value: syntax.Expression) -> None:
        """A number of constants and of parameters of the control's constructor."""
        self.check(value)
        check_size_type(value, "a table")
        if not is_known(value):
            raise P4Error(value.position, "size must be a constant number")

    def _idle_timeout(self, table: syntax.Table, item: syntax.Property) -> None:
        self._constant_bool(item)
        if item.value.value and not table.match_keys:
            raise P4Error(
                item.value.position,
                f"table '{table.name}' has no keys, so no entries that could age",
            )

    def _constant_bool(self, item: syntax.Property) -> None:
        value = item.value
        if self.check(value) != types.BOOL or value.value is None:
            raise P4Error(
                value.position,
                f"{item.name} is {value.type}; expected a constant, true or false",
            )

    def _positive(self, item: syntax.Property) -> None:
        if self.constant_integer(item.value, item.name) < 1:
            raise P4Error(item.value.position, f"{item.name} must be at least 1")

    def _algorithm(self, item: syntax.Property, extern: str) -> None:
        type_ = self.check(item.value)
        if not isinstance(type_, types.Generic) or type_.name != extern:
            raise P4Error(item.value.position, f"{item.name} is {type_}, expected {extern}")

    def _implementation(self, table: syntax.Table, item: syntax.Property) -> None:
        type_ = self.check(item.value)
        if is_algorithm(item):
            return
        symbol = item.value.symbol if isinstance(item.value, syntax.Name) else None
        is_one = isinstance(type_, types.Generic) and type_.name in IMPLEMENTATIONS
        if not is_one or not isinstance(symbol, InstanceSymbol):
            raise P4Error(
                item.value.position,
                f"implementation is {type_}, expected a named ActionProfile or ActionSelector, "
                "or an Alpm or Atcam",
            )
        if table.entries is not None:
            raise unsupported(
                item.position, "entries of a table with an implementation", "one without it"
            )
        if not table.match_keys:
            raise P4Error(item.position, f"table '{table.name}' has no keys that entries match")

    def _selector_keys(self, table: syntax.Table) -> None:
        item = implementation_of(table)
        by_selector = item is not None and item.value.type.name == "ActionSelector"
        if table.selector_keys and not by_selector:
            raise P4Error(
                table.selector_keys[0].position,
                f"table '{table.name}' has a selector key; expected an ActionSelector as its "
                "implementation",
            )
        if by_selector and not table.selector_keys:
            assert item is not None
            raise P4Error(
                item.position,
                f"table '{table.name}' has no selector key, by which an ActionSelector chooses",
            )

    def _direct(self, item: syntax.Property) -> None:
        type_ = self.check(item.value)
        symbol = item.value.symbol if isinstance(item.value, syntax.Name) else None
        is_one = isinstance(type_, types.Generic) and type_.name in DIRECT[item.name]
        if not is_one or not isinstance(symbol, InstanceSymbol):
            raise P4Error(
                item.value.position,
                f"{item.name} is {type_}, expected a named {' or '.join(DIRECT[item.name])}",
            )


def is_algorithm(implementation: syntax.Property) -> bool:
    """Whether it says how the ASIC looks up, not where actions are; it has been checked."""
    type_ = implementation.value.type
    return isinstance(type_, types.Generic) and type_.name in ("Alpm", "Atcam")


def implementation_of(table: syntax.Table) -> syntax.Property | None:
    """The property that gives the table an ActionProfile or ActionSelector."""
    item = table.property("implementation")
    return None if item is None or is_algorithm(item) else item


def unlisted_no_action(table: syntax.Table) -> syntax.ActionReference:
    """NoAction in a table that does not list it: its entries cannot have it."""
    default_only = syntax.Annotation(table.position, "defaultonly", [])
    return syntax.ActionReference(table.position, "NoAction", None, [default_only])


def action_scope(reference: syntax.ActionReference) -> str:
    """Whether entries, the default entry or both may have an action, as BfRt says it."""
    if syntax.annotation(reference.annotations, "defaultonly"):
        return "DefaultOnly"
    if syntax.annotation(reference.annotations, "tableonly"):
        return "TableOnly"
    return "TableAndDefault"
