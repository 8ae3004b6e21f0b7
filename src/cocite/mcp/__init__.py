"""A store for assistants, by the Model Context Protocol.

A question comes in as arguments that the SDK has checked against their types (`arguments.py`), goes to a thread that
asks the store (`held.py`, `tools.py`), and comes back as a shape of few words (`shapes.py`) and as text made from it.
What goes wrong comes back as a text that says what to ask instead (`server.py`).
"""
