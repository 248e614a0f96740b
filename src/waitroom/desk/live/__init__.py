"""The live lines of the desk: rooms of the engine that follow the record.

The record decides; this package must never write to the database.
"""
