"""Which pages are related to this page?"""

__version__ = "0.1.0"
