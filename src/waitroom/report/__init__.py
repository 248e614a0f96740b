"""Reports as one HTML file, of rehearsals and of sales: what happened, and what was promised.

A report reads what others have written down, and must not touch a room. What both kinds share is
here: promises, plots and the page; `sale` and what it uses are the report of a real sale.
"""
