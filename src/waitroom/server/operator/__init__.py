"""For operators: the API under `/v1/admin` and the page `/admin`.

What operators do is in `waitroom.operations`. This package must not import other faces.
"""
