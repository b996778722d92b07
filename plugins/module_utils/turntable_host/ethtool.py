"""What ethtool(8) shows and sets of a NIC. Values are dicts; what is not wanted is left alone.

The whole of it is recorded, not just what is wanted: drivers change one setting with another
(without checksums no segmentation).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from .commands import run
from .errors import HostError
from .network import link
from .setting import Setting, Value

# Names that ethtool has had since before the kernel's own, as printed -> as taken by -K.
_SHORT = {
    "rx-checksumming": "rx",
    "tx-checksumming": "tx",
    "scatter-gather": "sg",
    "tcp-segmentation-offload": "tso",
    "udp-fragmentation-offload": "ufo",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
    "rx-vlan-offload": "rxvlan",
    "tx-vlan-offload": "txvlan",
    "ntuple-filters": "ntuple",
    "receive-hashing": "rxhash",
}
_LONG = {short: long for long, short in _SHORT.items()}


class _Ethtool(Setting):
    """One pair of ethtool's options."""

    shows: ClassVar[str]
    sets: ClassVar[str]

    def read(self) -> Value:
        link(self.name)
        return self.parse(run(["ethtool", self.shows, self.name]))

    def write(self, value: Value) -> None:
        text = run(["ethtool", self.shows, self.name])
        present = self.parse(text)
        unknown = [key for key in value if key not in present]
        if unknown:
            raise HostError(
                f"{self}: the driver lets nobody set {', '.join(unknown)}; expected some of "
                f"{', '.join(present) or 'nothing'} (ethtool {self.shows} {self.name})"
            )
        different = {key: word for key, word in value.items() if present[key] != word}
        words = [word for pair in self.arguments(different, text).items() for word in pair]
        if words:
            run(["ethtool", self.sets, self.name, *words])

    def parse(self, text: str) -> dict[str, str]:
        """Only what can be set."""
        raise NotImplementedError

    def arguments(self, different: dict[str, str], text: str) -> dict[str, str]:
        """As ethtool takes them; text: what it shows."""
        del text
        return different


_FEATURE = re.compile(r"^(\s*)([\w-]+): (on|off)( \[fixed\])?", re.MULTILINE)


class Features(_Ethtool):
    kind = "features of"
    shows, sets = "-k", "-K"

    def parse(self, text: str) -> dict[str, str]:
        return {name: word for _, name, word, fixed in _FEATURE.findall(text) if not fixed}

    def arguments(self, different: dict[str, str], text: str) -> dict[str, str]:
        """A feature is not set beside its parts: they are what was put down before."""
        beside, whole = set(), ""
        for indent, name, _, _ in _FEATURE.findall(text):
            whole = whole if indent else name
            if indent and name in different:
                beside.add(whole)
        return {
            _SHORT.get(name, name): word for name, word in different.items() if name not in beside
        }


class Coalescing(_Ethtool):
    kind = "coalescing of"
    shows, sets = "-c", "-C"

    def parse(self, text: str) -> dict[str, str]:
        found = {}
        adaptive = re.search(r"^Adaptive RX: (\S+)\s+TX: (\S+)", text, re.MULTILINE)
        if adaptive:
            found = {"adaptive-rx": adaptive.group(1), "adaptive-tx": adaptive.group(2)}
        found.update(re.findall(r"^([a-z][\w-]*):\s+(\S+)$", text, re.MULTILINE))
        return {key: word for key, word in found.items() if word != "n/a"}


class Pause(_Ethtool):
    kind = "pause frames of"
    shows, sets = "-a", "-A"

    def parse(self, text: str) -> dict[str, str]:
        names = {"Autonegotiate": "autoneg", "RX": "rx", "TX": "tx"}
        lines = re.findall(r"^(Autonegotiate|RX|TX):\s+(on|off)\s*$", text, re.MULTILINE)
        return {names[name]: word for name, word in lines}


class Channels(_Ethtool):
    kind = "channels of"
    shows, sets = "-l", "-L"

    def parse(self, text: str) -> dict[str, str]:
        """Above are the most that the NIC can have, below what it has."""
        most, _, current = text.partition("Current hardware settings:")
        del most
        lines = re.findall(r"^(RX|TX|Other|Combined):\s+(\d+)\s*$", current, re.MULTILINE)
        return {name.lower(): count for name, count in lines}


def words_of(values: Mapping[str, object]) -> dict[str, str]:
    """As an inventory has them -> as ethtool prints them: true is on."""
    return {key: _word(value) for key, value in values.items()}


def _word(value: object) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def features_of(values: Mapping[str, object]) -> dict[str, str]:
    """The same for features, which have short names as well: gro is generic-receive-offload."""
    return {_LONG.get(key, key): word for key, word in words_of(values).items()}
