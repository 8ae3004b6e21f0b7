"""Questions about the store, and commands that change it."""
