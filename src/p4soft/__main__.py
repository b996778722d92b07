"""`python -m p4soft`: see `cli`."""

import sys

from p4soft.cli import main

sys.exit(main())
