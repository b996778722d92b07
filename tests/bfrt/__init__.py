"""BF Runtime over gRPC: bfrt-server in front of a live softswitch."""
