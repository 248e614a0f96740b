"""Waitroom: a self-hosted virtual waiting room on Redis or Valkey."""

__version__ = "0.1.0"
