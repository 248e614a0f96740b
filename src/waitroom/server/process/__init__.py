"""`waitroom serve` as processes: the parent, its workers, signals, logs and health.

It starts and stops the app. It must know no route.
"""
