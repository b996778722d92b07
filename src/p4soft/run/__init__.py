"""`p4soft run`: from a P4 file to a switch that forwards packets, with its control plane's servers.

    ports         which interface is which port, checked before anything is compiled
    installation  where the runtime's headers, its library and the programs are
    compiler      C++ to a shared library
    cache         compiled programs by what they are made from
    processes     children that end with this process, whatever ends it
    node          questions to a child over its control socket
    command       the command line, and the order of all that
    compile_command   the command line of `p4soft compile`, which makes a program and runs nothing
    confinement   what a stranger's program may take of the machine

Whatever goes wrong is a `RunError` that says what, where, what was expected and what to do.
"""
