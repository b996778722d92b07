"""What the run asks of FarReach's nodes, one module per component."""
