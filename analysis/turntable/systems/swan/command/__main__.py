import sys

from turntable.systems.swan.command.cli import main

sys.exit(main())
