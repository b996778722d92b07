"""Random tables with their actions and entries."""

from __future__ import annotations

from . import tree
from .generate_expressions import Scope
from .generate_statements import StatementGenerator
from .tree import BOOL, Bits, Bool

NO_ACTION = tree.Callable("action", "NoAction", [], [])
_MAX_RANGE_WIDTH = 20  # of a range key, as on the ASIC


class TableGenerator(StatementGenerator):
    def table(self, scope: Scope) -> tuple[tree.Table, list[tree.Callable]]:
        """And the actions that only this table has, so that a packet meets each at most once."""
        keys = self._keys(scope)
        actions = [
            self.action(scope, self.random.choice([0, 0, 0, 1, 2]), self.random.randrange(0, 3))
            for _ in range(self.random.randrange(1, 4))
        ]
        references = []
        for action in actions:
            directed = [parameter for parameter in action.parameters if parameter.direction]
            arguments = self.arguments(scope, directed, 1)
            if arguments is not None:
                references.append(tree.ActionReference(action, arguments))
        used = [each.action for each in references]
        counter = tree.DirectCounter(self.names.new("dc")) if self.chance(0.25) else None
        if counter is not None:
            for action in used:
                if self.chance(0.8):
                    action.body.insert(0, tree.CountDirect(counter))
        if self.chance(0.4) or not references:
            references.append(tree.ActionReference(NO_ACTION, []))
        default = self.random.choice(references).action
        table = tree.Table(
            self.names.new("t"), keys, references, default.name, self._data(default), [],
            is_constant=self.chance(0.5), counter=counter,
        )  # fmt: skip
        if self.chance(0.25):
            table.meter = self._metering(scope, used)
        is_plain = counter is None and table.meter is None
        if keys and not table.is_constant and is_plain and self.chance(0.5):
            self._implementation(scope, table)
        if keys:
            table.entries = self._entries(table)
        if table.selector is not None and table.entries:
            self._group(table.selector, table.entries)
            self._catch_all(table)
        return table, used

    def _metering(self, scope: Scope, actions: list[tree.Callable]) -> tree.DirectMeter | None:
        """A direct meter that most of the actions ask; None if nothing takes its colours."""
        target = self.place(scope.writable, Bits(8))
        if target is None:
            return None
        meter = self.direct_meter()
        for action in actions:
            if self.chance(0.8):
                action.body.insert(0, tree.Assign(target, self.color_of(scope, meter, None)))
        return meter

    def _implementation(self, scope: Scope, table: tree.Table) -> None:
        """An action profile, and most often a selector, to which most packets are to come."""
        table.profile = self.names.new("ap")
        if self.chance(0.75):
            table.selector = self._selector(scope)
        if table.selector is not None:
            for key in table.keys:
                if key.kind == "exact" and isinstance(key.expression.type, Bits):
                    key.kind = "ternary"

    # --- Selectors ----------------------------------------------------------------------------

    def _selector(self, scope: Scope) -> tree.Selector | None:
        """None if nothing is there to choose by."""
        places = [
            place for place in scope.readable
            if isinstance(place.type, Bits) and not place.type.signed and place.type.width % 8 == 0
        ]  # fmt: skip
        if not places:
            return None
        algorithm = self.random.choice(["CRC8", "CRC16", "CRC32", "IDENTITY", "XOR16"])
        width = self.random.randrange(4, 9 if algorithm == "CRC8" else 17)
        hash_ = tree.Hash(self.names.new("hash"), algorithm, width)
        subjects: list[tree.Expression] = [
            self.random.choice(places) for _ in range(self.random.randrange(1, 4))
        ]
        mode = self.random.choice(["FAIR", "RESILIENT"])
        return tree.Selector(self.names.new("sel"), hash_, mode, subjects)

    def _group(self, selector: tree.Selector, entries: list[tree.Entry]) -> None:
        """Makes groups of the entries' actions, and has most entries name one."""
        for _ in range(self.random.randrange(1, 5)):
            count = self.random.randrange(1, min(len(entries), 4) + 1)
            members = self.random.sample(range(len(entries)), count)
            active = [self.chance(0.65) for _ in members]
            weights = [self.random.choice([1, 1, 1, 2, 3]) for _ in members]
            selector.groups.append(tree.Group(members, active, weights))
        for entry in entries:
            if self.chance(0.8):
                entry.group = self.random.randrange(len(selector.groups))

    def _data(self, action: tree.Callable) -> list[int]:
        return [
            self.chance(0.5) if isinstance(p.type, Bool) else self.interesting(p.type.width)
            for p in action.data()
        ]

    def _catch_all(self, table: tree.Table) -> None:
        """Makes one entry match every packet, if no other does and the keys can."""
        widths = [getattr(key.expression.type, "width", 0) for key in table.keys]
        pairs = list(zip(table.keys, widths, strict=True))
        if any(key.kind == "exact" for key in table.keys):
            return
        matches = [
            tree.Match(0, (1 << width) - 1 if key.kind == "range" else 0) for key, width in pairs
        ]
        if all(entry.matches != matches for entry in table.entries):
            max(table.entries, key=lambda entry: entry.priority).matches = matches

    # --- Keys ---------------------------------------------------------------------------------

    def _keys(self, scope: Scope) -> list[tree.Key]:
        kinds = self.random.choice(
            [
                *([], ["exact"], ["exact"], ["exact"] * 2, ["lpm"], ["exact", "lpm"]),
                *(["ternary"], ["ternary"] * 2, ["range"], ["exact", "range"], ["range"] * 2),
                *(["exact", "ternary"], ["ternary", "lpm"], ["exact"] * 3, ["ternary", "range"]),
            ]
        )
        kinds = list(kinds)
        self.random.shuffle(kinds)
        return [tree.Key(self._key(scope, kind), kind, self.names.new("k")) for kind in kinds]

    def _key(self, scope: Scope, kind: str) -> tree.Expression:
        if kind == "exact" and scope.headers and self.chance(0.15):
            return tree.IsValid(BOOL, self.random.choice(scope.headers)[0])
        places = [
            place for place in scope.readable
            if isinstance(place.type, Bits) and not place.type.signed
            and (kind != "range" or place.type.width <= _MAX_RANGE_WIDTH)
        ]  # fmt: skip
        if not places:
            return self.expression(scope, Bits(8), 1)
        place = self.random.choice(places)
        assert isinstance(place.type, Bits)
        if self.chance(0.6):
            return place
        if place.type.width > 1 and self.chance(0.5):
            return self.sliced(place, self.random.randrange(1, place.type.width))
        return self.expression(scope, place.type, 2)

    # --- Entries ------------------------------------------------------------------------------

    def _entries(self, table: tree.Table) -> list[tree.Entry]:
        entries: dict[tuple[tuple[int, int], ...], tree.Entry] = {}
        for number in range(self.random.randrange(0, 9)):
            matches = [self._match(key) for key in table.keys]
            action = self.random.choice(table.actions).action
            known = tuple((match.first, match.second) for match in matches)
            entry = tree.Entry(matches, action.name, self._data(action), number)
            if table.meter is not None and not table.is_constant and self.chance(0.8):
                entry.limits = self.limits()
            entries.setdefault(known, entry)
        made = list(entries.values())
        if not table.is_constant:
            self.random.shuffle(made)  # priorities are not in the order of insertion
        return made

    def _match(self, key: tree.Key) -> tree.Match:
        type_ = key.expression.type
        if isinstance(type_, Bool):
            return tree.Match(self.chance(0.5))
        width = type_.width
        full = (1 << width) - 1
        value = self.interesting(width)
        if key.kind == "exact":
            return tree.Match(value)
        if key.kind == "range":
            return tree.Match(*sorted([value, self.interesting(width)]))
        if key.kind == "lpm":
            bits = self.random.choice([0, width, self.random.randrange(width + 1)])
            return tree.Match(value & (full ^ full >> bits), bits)
        mask = self.random.choice([0, full, self.interesting(width), full ^ full >> width // 2])
        return tree.Match(value & mask, mask)
