-- Foreign keys on the same server, which live for one to two hours.
-- KEYS: none   ARGV: 1 first number   2 last number
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  redis.call('SET', 'other:' .. i, '1', 'EX', 3600 + i % 3600)
end
