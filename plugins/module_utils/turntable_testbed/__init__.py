"""The embedded testbed: network namespaces of this machine that stand for hosts.

`topology` says what should exist, `observe` what does, `plan` the steps between the two and `apply`
takes them; `namespaces`, `offloads` and `processes` wrap the kernel, `collisions` protects what is
not ours, `fingerprint` lists everything that carries a testbed's id.
"""
