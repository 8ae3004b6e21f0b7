"""What the web page can show, a file each: `show(web, state, load)` gives its content."""
