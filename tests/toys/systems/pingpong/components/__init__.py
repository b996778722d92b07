"""What the run asks of pingpong's nodes, one module per component."""
