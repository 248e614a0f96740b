"""Tests of events out."""
