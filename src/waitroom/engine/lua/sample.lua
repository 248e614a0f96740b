-- sample: note the room's numbers for charts and estimates, once in five seconds whoever asks. It is no
-- change of the room: `rev` stays, and an empty room to which nothing has happened is not noted again.
-- KEYS: as in _common.
-- ARGV: none of its own
-- Returns: ok (at = wall-clock ms, waiting, called, inside, and every lifetime counter by its name) | not_due
local SAMPLE_MS = 5000
local KEPT_SAMPLES = 1440 -- two hours
-- Any process may ask as often as it likes: the first in five seconds writes, so that no leader is needed. Only
-- these keys are read or written, so the types of others do not matter.
local stop = open_room({
  config = 'hash', meta = 'hash', waiting = 'zset', called = 'zset', inside = 'zset', series = 'stream',
})
if stop then return stop end

local sampled_at = tonumber(redis.call('HGET', K.meta, 'sampled_at') or 0)
local counters = redis.call('HMGET', K.meta, unpack(COUNTERS))
local here = R.n_waiting + live_called() + live_inside()
local idle = here == 0 and (R.active_at < sampled_at or not counters[1]) -- the first is `joined`
-- Also after a time that is yet to come: room time begins anew when a room has been tidied up.
if idle or math.abs(R.now - sampled_at) < SAMPLE_MS then return no_change('not_due') end

local line = {'at', R.raw_ms, 'waiting', R.n_waiting, 'called', live_called(), 'inside', live_inside()}
for i, name in ipairs(COUNTERS) do
  line[#line + 1] = name
  line[#line + 1] = tonumber(counters[i] or 0)
end
-- Ids are the time, so that a chart can be read from a moment on; they grow when the clock does not.
local last = redis.call('XREVRANGE', K.series, '+', '-', 'COUNT', 1)[1]
local id = max(R.raw_ms, last and tonumber(string.match(last[1], '^%d+')) + 1 or 0)
-- First write: everything is checked.
redis.call('XADD', K.series, 'MAXLEN', '~', KEPT_SAMPLES, string.format('%.0f-0', id), unpack(line))
-- Read by this verb alone, so it is not among the fields that every call reads.
redis.call('HSET', K.meta, 'sampled_at', R.now)
save(false)
return reply('ok', unpack(line))
