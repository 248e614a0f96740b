-- People who come to seed 004's line one after another: for each, both of its sets get an entry.
-- KEYS: 1 the line   2 last polls   ARGV: 1 arrival of the first in ms   2.. tokens
for i = 2, #ARGV do
  redis.call('ZADD', KEYS[1], ARGV[1] + i, ARGV[i])
  redis.call('ZADD', KEYS[2], ARGV[1] + i, ARGV[i])
end
