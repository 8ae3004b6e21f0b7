"""Views: how commands show the results of operations."""
