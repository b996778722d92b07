"""A machine with an SDE installed and a Tofino in it, as far as one can tell from outside.

`python tests/rack/fake/make.py DIRECTORY` makes the tree; its programs (bf_switchd, bfshell,
bf-p4c, lsmod, ...) are the
modules of this package. They are written from the public sources that docs/rack.md names, and use
the standard library alone, but for BF Runtime (bfrt.py).
"""
