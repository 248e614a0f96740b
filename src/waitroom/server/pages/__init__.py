"""What all pages share: templates, headers, languages and signed cookies.

It must not know a single page.
"""
