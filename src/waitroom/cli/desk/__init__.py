"""The commands of `waitroom desk`.

They open the desk's record and lines and print results. They must hold no rules of the desk.
"""
