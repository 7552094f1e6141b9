"""What is known to differ between the frameworks, each shown by a script in the folder `findings/`.

scripts: the scripts as data, and whether their discrepancies still stand.
reports: what others reported, and what is true of it.
catalogue: lists, tables, the pages of both, and a text to post upstream.
"""
