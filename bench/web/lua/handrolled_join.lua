-- Join of the hand-written queue.
-- KEYS: 1 waiting (ZSET ticket -> arrival in µs)  2 seen (ZSET ticket -> last poll in ms)
-- ARGV: 1 ticket
-- Returns: {position, people waiting}
local now = redis.call('TIME')
local at_us = now[1] * 1000000 + now[2]
redis.call('ZADD', KEYS[1], 'NX', string.format('%.0f', at_us), ARGV[1])
redis.call('ZADD', KEYS[2], string.format('%.0f', math.floor(at_us / 1000)), ARGV[1])
return { redis.call('ZRANK', KEYS[1], ARGV[1]) + 1, redis.call('ZCARD', KEYS[1]) }
