"""Explains the state of a testbed in plain words and changes nothing.

`looks` says what is read on every host, the other modules turn it into findings (pure functions
but for `network` and `controller`, which read this machine), `page` shows them.
"""
