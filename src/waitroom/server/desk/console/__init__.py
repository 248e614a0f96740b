"""The console of a store's hosts, `/desk/{store}/host`.

It shows a line and posts forms. The rules of the line are in `waitroom.desk`.
"""
