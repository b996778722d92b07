"""P4Info: what a control plane of P4Runtime may do with a program."""

from p4soft.emit.p4info.document import p4info

__all__ = ["p4info"]
