-- append: put entries into a room's outbox, and note how far its relay has come: both or neither.
-- KEYS: 1 outbox, STREAM of type, at (wall ms), data (JSON); ids are '<ms>-<number of the entry>'   2 relay, HASH
-- ARGV: 1 turn of the relay that the caller has seen   2 most entries   3 how long they are kept, in ms
--       4 how many fields of the relay follow, names and values; then type, at, data of each entry
-- Returns: the id of the newest entry, or '' if another process was quicker: nothing is written then
local relay = redis.call('HMGET', KEYS[2], 'turn', 'ms', 'written')
local turn, last_ms, n = tonumber(relay[1] or 0), tonumber(relay[2] or 0), tonumber(relay[3] or 0)
if turn ~= tonumber(ARGV[1]) then return '' end
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
-- A clock that was set back must not stop it: ids only grow.
local ms, fields = math.max(now_ms, last_ms), {'turn', turn + 1}
for i = 5, 4 + tonumber(ARGV[4]) do fields[#fields + 1] = ARGV[i] end

-- First write: everything is checked. A full server refuses it, and the relay tries again later.
for i = 5 + tonumber(ARGV[4]), #ARGV, 3 do
  n, last_ms = n + 1, ms
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], string.format('%.0f-%.0f', ms, n),
    'type', ARGV[i], 'at', ARGV[i + 1], 'data', ARGV[i + 2])
end
fields[#fields + 1], fields[#fields + 2] = 'ms', string.format('%.0f', last_ms)
fields[#fields + 1], fields[#fields + 2] = 'written', n
redis.call('HSET', KEYS[2], unpack(fields))
redis.call('XTRIM', KEYS[1], 'MINID', '~', string.format('%.0f', now_ms - tonumber(ARGV[3])))
redis.call('EXPIRE', KEYS[2], 34560000) -- also for a room that was dropped and created again
redis.call('EXPIRE', KEYS[1], math.floor(tonumber(ARGV[3]) / 1000) + 3600)
return string.format('%.0f-%.0f', last_ms, n)
