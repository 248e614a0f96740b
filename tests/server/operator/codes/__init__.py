"""Entry codes, by the operator API and page."""
