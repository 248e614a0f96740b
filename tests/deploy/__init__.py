"""The files of deploy/, each read by the program it is for, or by the closest substitute."""
