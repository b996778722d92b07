"""The store of experiments, results/swan.sqlite: Swan's tables in one file (docs/swan-store.md)."""

from turntable.systems.swan.store.store import FILE_NAME, Kept, Store

__all__ = ["FILE_NAME", "Kept", "Store"]
