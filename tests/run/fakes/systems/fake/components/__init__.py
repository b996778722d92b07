"""What the run asks of its nodes."""
