"""The version, apart from the public API, so that importing it imports nothing else."""

__version__ = "0.1.0"
