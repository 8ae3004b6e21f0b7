"""Related pages for a site of one's own: the folder that a static generator wrote → related pages of every page.

The in-site variant: the site's own links and texts are all there is, so no page is merged with another and no link
counts less for staying at home. `reading.py` reads one page, `gathering.py` all of a folder, those that did not change
from a cache; `relating.py` compares them; `overrides.py` is what the owner wants otherwise; `writing.py` writes.
"""
