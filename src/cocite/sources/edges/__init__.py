"""Edge lists."""
