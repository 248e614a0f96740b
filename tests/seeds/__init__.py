"""What was asked for, requirement by requirement: one file per seed document."""
