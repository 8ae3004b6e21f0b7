"""Sources: everything that can be read as page records, from files, folders, archives, graphs and the web.

`open_source` recognises a source and reads it. To add a kind of source, write one module in this folder, or in one of
its folders, that declares its `SourceKind` as `SOURCE`; CONTRIBUTING.md has a complete example. A plugin names its
`SourceKind` as an entry point in the group `cocite.sources`.

`recognises` gets the path and the first 64 KiB of its decompressed content. Kinds are asked by their `order`, from the
lowest number, and the first that recognises a file reads it. For a file that looks like one of its kind but can't be
read, it may raise BadSource with a message that says what to do: users see it if no other kind recognises the file.
`read` counts what it skips.
"""
