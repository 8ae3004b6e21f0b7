"""Related pages inside a static site: the folder that a generator wrote → the related pages of every page.

`read.py` reads changed files as page records; `relate.py` makes a Graph of them in memory and asks it as
`cocite related` does; `overrides.py` has the wishes of the owner; `write.py` writes JSON, fragments and pages.
"""
