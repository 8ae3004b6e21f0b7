"""The same work on a cluster, for webs that outgrow one machine: jobs of Spark round the functions of one machine.

pages    any sources → page records as Parquet                                  pages.py
store    page records → numbered pages and links in both directions, as shards  store.py
rank     shards → PageRank or HubRank of every page                             rank.py
related  shards → the pages most related to every page                          related.py

What crosses the network is Arrow batches; what is worked out from them is worked out by the kernels, readers and
methods that one machine uses, so both give the same. No process holds all links, or all pages.
"""
