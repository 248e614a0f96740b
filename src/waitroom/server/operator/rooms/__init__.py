"""Rooms themselves: created, changed field by field, emptied and removed, by API and by form.

`Policy` defines what a field means; nothing here may define it a second time.
"""
