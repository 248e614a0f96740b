-- sample: note the room's numbers for charts and estimates, once in five seconds, whoever asks. It does not change the
-- room: `rev` stays, and an empty room in which nothing has happened is not noted again.
-- Needs: occupancy, opening, saving.
-- KEYS: as in _common.
-- ARGV: 6 seconds that a newcomer is told to wait, '' = unknown
-- Returns: ok (at = wall-clock ms, waiting, called, inside, every lifetime counter by its name; and, '' = none:
--   waited_ms of the last one called from the head since the sample before, told_s, mode, capacity, per_minute = most
--   calls or entries, woke_at = wall-clock ms until which nothing had changed since the sample before, for a minute
--   or longer) | not_due
local SAMPLE_MS = 5000
local KEPT_SAMPLES = 1440 -- two hours
local told_s = ARGV[6]
-- Any process may ask as often as it likes: the first in five seconds writes, so no leader is needed. Only these keys
-- are read or written, so the types of others do not matter.
local stop = open_room({
  config = 'hash', meta = 'hash', waiting = 'zset', called = 'zset', inside = 'zset', series = 'stream',
})
if stop then return stop end

-- The tighter of pace and rolling limit, per minute.
local function per_minute()
  local pace = R.batch and R.every and R.batch * 60000 / R.every
  local entries = R.max_entries and R.per and R.max_entries * 60000 / R.per
  local limit = pace and entries and min(pace, entries) or pace or entries
  return limit and string.format('%.3f', limit) or ''
end

local own = redis.call('HMGET', K.meta, 'sampled_at', 'sampled_rev', 'waited_ms', 'woke_at', 'woke_rev')
local sampled_at, sampled_rev, waited_ms, woke_at, woke_rev = tonumber(own[1] or 0), unpack(own, 2)
local counters = redis.call('HMGET', K.meta, unpack(COUNTERS))
local here = R.n_waiting + live_called() + live_inside()
local idle = here == 0 and (R.active_at < sampled_at or not counters[1]) -- the first is `joined`
-- Also if `sampled_at` is still to come: room time starts again when a room has been cleaned up.
if idle or math.abs(R.now - sampled_at) < SAMPLE_MS then return no_change('not_due') end

local line = {'at', R.raw_ms, 'waiting', R.n_waiting, 'called', live_called(), 'inside', live_inside()}
for i, name in ipairs(COUNTERS) do
  line[#line + 1] = name
  line[#line + 1] = tonumber(counters[i] or 0)
end
-- The same names in the same order each time: then a stream stores them once for many entries.
for _, value in ipairs({
  'waited_ms', waited_ms or '', 'told_s', told_s, 'mode', R.mode, 'capacity', R.capacity or '',
  'per_minute', per_minute(), 'woke_at', woke_rev and woke_rev == sampled_rev and wall(tonumber(woke_at)) or '',
}) do
  line[#line + 1] = value
end
-- Ids are the time, so that a chart can be read from a moment on; they grow even if the clock does not.
local last = redis.call('XREVRANGE', K.series, '+', '-', 'COUNT', 1)[1]
local id = max(R.raw_ms, last and tonumber(string.match(last[1], '^%d+')) + 1 or 0)
-- First write: everything is checked.
redis.call('XADD', K.series, 'MAXLEN', '~', KEPT_SAMPLES, string.format('%.0f-0', id), unpack(line))
-- Only this verb reads them, so they are not among the fields that every call reads.
redis.call('HSET', K.meta, 'sampled_at', R.now, 'sampled_rev', R.rev)
if waited_ms then redis.call('HDEL', K.meta, 'waited_ms') end
save(false)
return reply('ok', unpack(line))
