"""`python -m p4soft`: see `commands`."""

import sys

from p4soft.commands import main

sys.exit(main())
