-- A poll as seed 004 writes it: one call per visitor, two sorted sets, no batch.
-- KEYS: 1 the line, token -> arrival in ms   2 token -> last poll in ms
-- ARGV: 1 token
-- Returns: {rank, number waiting}
local line, last_polls, token = KEYS[1], KEYS[2], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not redis.call('ZSCORE', line, token) then redis.call('ZADD', line, now, token) end
local rank = redis.call('ZRANK', line, token)
local waiting = redis.call('ZCARD', line)
redis.call('ZADD', last_polls, now, token)
return {rank, waiting}
