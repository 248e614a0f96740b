"""The people of a room: list, find, call and remove them, and the page of one person.

The engine decides who is called; nothing here may show an order that is not public yet.
"""
