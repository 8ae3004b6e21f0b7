"""The web page: state.py (what an address shows), views.py (values), templates/ (HTML), pages.py (routes), study.py."""
