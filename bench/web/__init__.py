"""The parts of `bench.http`: the peers, the loads on them, and the streams."""
