"""The steps that made the tables of the desk's database what they are, in order."""
