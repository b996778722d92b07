"""Instances to C++ (src/dataplane is the runtime) and to the control-plane schema."""
