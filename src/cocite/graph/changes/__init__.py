"""How a store changes: layers on the base, pages removed for good, and the captures of earlier days."""
