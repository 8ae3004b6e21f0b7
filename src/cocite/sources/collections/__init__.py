"""Lists of links: bookmarks, feed lists (OPML) and Markdown."""
