"""Intrinsic metadata that this switch neither fills in nor obeys: to name such a field is an error,
or, where the ASIC does not obey it either as it is configured at first, a warning.

Copied with the whole of their header or struct, the fields are zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from p4soft.check import types
from p4soft.elaborate import Pipeline
from p4soft.errors import P4Warning, unsupported
from p4soft.frontend import syntax
from p4soft.tree import walk

_CUT_THROUGH = "disable_ucast_cutthru enable_mcast_cutthru"
_CONGESTION = "enq_congest_stat deq_congest_stat app_pool_congest_stat"
# By type: names of fields.
WITHOUT_EFFECT = {
    "ingress_intrinsic_metadata_t": "packet_version",
    "ingress_intrinsic_metadata_from_parser_t": "global_ver",
    "ingress_intrinsic_metadata_for_tm_t": f"icos_for_copy_to_cpu {_CUT_THROUGH}",
    "egress_intrinsic_metadata_t": f"{_CONGESTION} egress_cos",
    "egress_intrinsic_metadata_from_parser_t": "global_ver",
    "egress_intrinsic_metadata_for_deparser_t": "coalesce_flush coalesce_length",
    "egress_intrinsic_metadata_for_output_port_t": "capture_tstamp_on_tx update_delay_on_tx",
}
# The same, of fields that change nothing until the control plane says what they are for.
_NO_DEFLECTION = "no packet is deflected"
UNUSED_AT_FIRST = {
    "ingress_intrinsic_metadata_for_tm_t": {
        "packet_color": "no queue drops by colour",
        "ingress_cos": "queues have no pools of buffers",
        "deflect_on_drop": _NO_DEFLECTION,
    },
    "egress_intrinsic_metadata_t": {"deflection_flag": _NO_DEFLECTION},
}


def check_members(pipeline: Pipeline) -> Iterator[P4Warning]:
    for block in pipeline.all_blocks():
        for node in walk(block.declaration):
            if not isinstance(node, syntax.Member):
                continue
            type_ = node.base.type
            if not isinstance(type_, types.Composite):
                continue
            what = UNUSED_AT_FIRST.get(type_.name, {}).get(node.name)
            if what is not None:
                message = f"'{node.name}' of {type_} changes nothing here: {what}"
                yield P4Warning(node.name_position, message)
            refused = WITHOUT_EFFECT.get(type_.name, "").split()
            if node.name in refused:
                others = [field for field in type_.fields if field not in refused]
                shown = [field for field in others if not field.startswith("_pad")]
                raise unsupported(
                    node.name_position,
                    f"'{node.name}' of {type_}",
                    ", ".join(shown) or "no field of it",
                )
