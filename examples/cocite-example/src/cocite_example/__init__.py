"""An example of a plugin for cocite."""
