"""What all pages share: templates, headers, languages, errors as pages, and signed cookies.

It must not know any particular page.
"""
