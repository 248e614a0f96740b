"""Reports as one HTML file, for rehearsals and sales: what happened, and what was promised.

A report reads what others have written down, and must not touch a room. This package has what both
kinds share: promises, plots and the page; `sale` and what it uses are the report of a real sale.
"""
