"""Benchmarks. Each runs on a server of its own and prints one JSON line last."""
