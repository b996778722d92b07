"""The mark by which a network namespace says whose it is.

It is the alias (IFLA_IFALIAS) of the namespace's loopback device, set before the namespace gets its
name: there is no moment at which a namespace of ours could be taken for somebody else's, and the
mark is gone with the namespace.
"""

from __future__ import annotations

from dataclasses import dataclass

_PREFIX = "turntable"


@dataclass(frozen=True)
class Marker:
    """Whose namespace this is, and which networks its testbed uses (CIDR texts)."""

    testbed: str
    host: str
    data_network: str
    control_network: str

    def text(self) -> str:
        return (
            f"{_PREFIX} testbed={self.testbed} host={self.host}"
            f" data={self.data_network} control={self.control_network}"
        )

    @classmethod
    def parse(cls, text: str | None) -> Marker | None:
        """The marker that `text` holds, or None if it is not one."""
        words = (text or "").split()
        if not words or words[0] != _PREFIX:
            return None
        fields = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        try:
            return cls(fields["testbed"], fields["host"], fields["data"], fields["control"])
        except KeyError:
            return None
