"""What `bench.http` is made of: the peers, the loads on them, and the streams."""
