"""Methods and ranks, and the neighbourhoods they read."""
