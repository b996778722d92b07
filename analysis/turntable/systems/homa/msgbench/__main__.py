import sys

from turntable.systems.homa.msgbench.cli import main

sys.exit(main())
