"""The console of a store's hosts, `/desk/{store}/host`.

It shows a line and posts forms. It must hold no rules of the line: they are in `waitroom.desk`.
"""
