"""The desk: its record, its live lines, and what guests and hosts do."""
