"""Tasks: commands that do something with a store, rather than ask it."""
