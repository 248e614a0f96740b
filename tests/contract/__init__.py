"""The vectors of the gate contract: what every gate answers, in any language.

`make vectors` writes them to contract/. Expected values are written here by hand or come from the
Python gate; where both exist, they must agree.
"""
