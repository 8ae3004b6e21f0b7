"""Questions about pages: what is related to them, and how."""
