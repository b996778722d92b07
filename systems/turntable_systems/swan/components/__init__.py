"""What the run asks of Swan's nodes, one module per component."""
