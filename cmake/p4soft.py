#!/usr/bin/env python3
"""p4soft in an installed tree: the package is in PREFIX/lib/python, wherever PREFIX was moved."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib" / "python"))

from p4soft.commands import main

sys.exit(main())
