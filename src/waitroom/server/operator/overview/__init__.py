"""The overview of all rooms, `/admin`: rooms that need attention come first.

It reads boards and shows them; it must change nothing.
"""
