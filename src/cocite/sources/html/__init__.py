"""HTML pages and folders of them."""
