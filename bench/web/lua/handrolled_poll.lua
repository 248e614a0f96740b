-- Poll of the hand-written queue.
-- KEYS: 1 waiting (ZSET ticket -> arrival in µs)  2 seen (ZSET ticket -> last poll in ms)
-- ARGV: 1 ticket
-- Returns: {position, people waiting}; position 0 = no such ticket
local rank = redis.call('ZRANK', KEYS[1], ARGV[1])
if not rank then
  return { 0, 0 }
end
local now = redis.call('TIME')
local at_ms = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZADD', KEYS[2], string.format('%.0f', at_ms), ARGV[1])
return { rank + 1, redis.call('ZCARD', KEYS[1]) }
