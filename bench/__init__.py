"""Benchmarks. Each runs on its own server and prints one JSON line at the end."""
