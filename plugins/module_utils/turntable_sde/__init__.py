"""A switch with an SDE installed: what runs there, and what its command line says.

`on_switch/` has the programs that run on the switch; `call` sends one over a connection. They use
the standard library of
Python 3.6 alone and leave nothing behind: a switch's Python may be too old for Ansible's own
modules.
"""
