"""Annotations: each has its effect, is a hint that changes nothing here, or is refused.

docs/p4soft.md has a row for every name below.
"""

from __future__ import annotations

import re

from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax
from p4soft.tree import walk

# Names of @name stand in strings of the C++ that is made: no quote, backslash or question mark ends
# or changes these.
_CONTROL_PLANE_NAME = re.compile(r'"[A-Za-z0-9_.$\[\]()<>{}:;,@/+*# -]+"')
_SITES: dict[type, str] = {
    syntax.Table: "a table",
    syntax.TableKey: "a key",
    syntax.Action: "an action",
    syntax.ActionReference: "an action of a table",
    syntax.Parameter: "a parameter",
    syntax.Function: "a function",
    syntax.Composite: "a type",
    syntax.Field: "a field",
    syntax.Parser: "a parser",
    syntax.ParserState: "a state",
    syntax.Control: "a control",
    syntax.Variable: "a variable",
    syntax.ValueSet: "a value set",
}
_NAMED = frozenset(["a table", "a key", "an action", "an instance", "a value set"])
# The annotations with an effect, and where they may stand.
EFFECTS: dict[str, frozenset[str]] = {
    "name": _NAMED | {"a type", "a parser", "a state", "a control", "a variable"},
    "hidden": frozenset(["a table", "an action", "an instance", "a value set"]),
    "tableonly": frozenset(["an action of a table"]),
    "defaultonly": frozenset(["an action of a table"]),
    "optional": frozenset(["a parameter"]),
    "abstract": frozenset(["a function"]),
    "symmetric": frozenset(["an instance of Hash"]),
    "adjust_byte_count": frozenset(
        f"an instance of {name}" for name in ("Counter", "DirectCounter", "Meter")
    ),
    "flexible": frozenset(["a type", "a field"]),
    "packed": frozenset(["a field"]),
    "padding": frozenset(["a field"]),
    "pa_alias": frozenset(),  # anywhere: it names what it is about
}
# Hints of placement, timing or documentation, promises to the compiler, and wishes that hold
# anyway: a program means the same with and without them.
HINTS = frozenset(
    """
    __debug __intrinsic_metadata alpm alpm_atcam_exclude_field_msbs alpm_partitions
    alpm_subtrees_per_partition assert assume atcam_number_partitions atomic brief command_line
    controller_header critical deprecated description disable_atomic_modify disable_optimization
    do_not_use_clot dont_unroll dontmerge dynamic_table_key_masks egress_intrinsic_metadata_opt
    entries_with_ranges force_immediate gfm_parity_enable header_checksum id idletime_interval
    idletime_per_flow_idletime idletime_precision idletime_two_way_notification
    ignore_table_dependency immediate in_hash ixbar_group_num likely lrt_enable lrt_scale
    max_actions max_loop_depth meter_profile min_width noSideEffects noWarn no_field_initialization
    no_gateway_conversion no_versioning nounroll p4runtime_translation pa_allow_pov_on_mocha
    pa_atomic pa_auto_init_metadata pa_byte_pack pa_container_size pa_container_type
    pa_disable_deparse_0_optimization pa_mutually_exclusive pa_no_init pa_no_overlay pa_no_pack
    pa_parser_bandwidth_opt pa_parser_group_monogress pa_prioritize_ara_inits pa_quick_phv_alloc
    pa_solitary pack payload_checksum phv_limit pkginfo placement_priority pure
    reduction_or_group separate_gateway stage synchronous ternary unlikely unroll use_hash_action
    user_annotation ways
    """.split()  # noqa: SIM905  a word list reads better than a hundred lines
)


def check_annotations(program: syntax.Program) -> None:
    """Refuses what has an effect that p4soft does not have, or stands where it has none."""
    sites = {
        annotation: _sites_of(node)
        for node in walk(program.declarations)
        for annotation in getattr(node, "annotations", ())
    }
    for annotation in program.annotations:
        name = annotation.name
        if name in HINTS:
            continue
        if name not in EFFECTS:
            raise unsupported(
                annotation.position,
                f"annotation @{name}",
                f"@{', @'.join(sorted(EFFECTS))}, and hints (see docs/p4soft.md)",
            )
        if EFFECTS[name] and not EFFECTS[name] & sites.get(annotation, set()):
            raise unsupported(
                annotation.position,
                f"@{name} here",
                f"@{name} on {' or '.join(sorted(EFFECTS[name]))}",
            )
        if name == "name":
            _check_name(annotation)


def _check_name(annotation: syntax.Annotation) -> None:
    words = annotation.arguments
    if len(words) != 1 or _CONTROL_PLANE_NAME.fullmatch(words[0].text) is None:
        raise P4Error(
            annotation.position,
            "@name needs one name in quotes, of letters, digits, spaces and _.$[]()<>{}:;,@/+*#-: "
            'for example @name("pipe.forward")',
        )


def _sites_of(node: syntax.Node) -> set[str]:
    if not isinstance(node, syntax.Instantiation):
        return {_SITES[type(node)]}
    declared = node.declared
    name = declared.name if isinstance(declared, syntax.NamedType) else ""
    return {"an instance", f"an instance of {name}"}
