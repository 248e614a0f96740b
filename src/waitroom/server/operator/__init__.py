"""For operators: the API under `/v1/admin` and the page `/admin`.

The actions themselves are in `waitroom.operations`. This package must not import other faces.
"""
