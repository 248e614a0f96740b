-- commit: note how far a reader of a room's outbox has come, if its lease is still the caller's.
-- KEYS: 1 lease, STRING   2 readers, HASH of reader -> JSON
-- ARGV: 1 token of the lease   2 reader   3 its state   4 how long the lease goes on, in ms; 0 = it ends
-- Returns: 1, or 0 if another process has the lease: nothing is written then
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
-- First write: everything is checked.
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('EXPIRE', KEYS[2], 34560000)
if ARGV[4] == '0' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[4])
end
return 1
