"""Attacks on a server and on a store, rerun by `make attack`.

Each attack ends in an answer, in a refusal with a reason, or at a time limit, and an honest client beside it doesn't
notice. One test is one attack. `honest` of conftest.py is that client; attackers come from other loopback addresses.
"""
