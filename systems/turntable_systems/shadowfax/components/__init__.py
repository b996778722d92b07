"""What the run asks of Shadowfax's nodes, one module per component."""
