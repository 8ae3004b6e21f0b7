"""Reading and writing the compressed arrays of a store."""
