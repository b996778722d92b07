"""The run side of every system under test, a package each (docs/add-a-system.md).

Systems outside of this repository lie in directories that are laid out like it: `systems/<name>`
has the run side, `analysis/<name>` the analysis side. The environment variable TURNTABLE_SYSTEMS
names such directories, joined with colons.
"""

import os
from pathlib import Path

# Directories of systems outside of this repository.
FURTHER = [
    Path(text).absolute() for text in os.environ.get("TURNTABLE_SYSTEMS", "").split(":") if text
]
if FURTHER:  # what this process starts may work elsewhere
    os.environ["TURNTABLE_SYSTEMS"] = ":".join(map(str, FURTHER))

__path__.extend(str(directory / "systems") for directory in FURTHER)
