"""One HTML file of what a run found, which needs no network. Imports no framework.

data: the lines of results as what the page shows: cases, excuses, the distribution of errors.
write: the page of that data, from `page.html.j2`, `page.css` and `page.js`; and
`equivalence page RESULTS`, from the results of other runs.

`page.js` filters and sorts the cases, and shows what is known of one. It draws by Observable Plot,
which is in `vendor/` with the D3 that it needs: the page must be one file.
"""
