"""Tests of the preview of the waiting page."""
