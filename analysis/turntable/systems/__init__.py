"""The analysis side of every system under test, a package each (docs/add-a-system.md).

Those outside of this repository lie in `<directory>/analysis` of what TURNTABLE_SYSTEMS names, as
their run sides do in `<directory>/systems`.
"""

from turntable_systems import FURTHER

__path__.extend(str(directory.absolute() / "analysis") for directory in FURTHER)
