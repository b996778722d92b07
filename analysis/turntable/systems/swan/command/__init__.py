"""The command `swan`: Swan's faces of the experiments (docs/swan-store.md).

cli dispatches; begin runs experiments, show reads the store, again runs one again; settings and
words read flags, environment and configuration files.
"""
