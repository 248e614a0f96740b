"""`make bench-eta`: how good the estimates are, in rooms that nobody tuned for."""
