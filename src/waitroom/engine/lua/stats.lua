-- stats: the room at a glance.
-- Needs: line, occupancy, opening, returns, window.
-- KEYS: as in _common.
-- ARGV: none of its own
-- Returns: ok (mode = as it is now, waiting, called, inside, entries, hold_until, oldest = longest wait in ms,
--   may_return = dropped for silence, but not for good, hidden = 1 before a draw, and every lifetime counter by its
--   name)
local stop = open_room(nil, true)
if stop then return stop end

-- Counted by deadlines, as in every verb, not by the sizes of the sets: a late sweep does not show here.
local head = redis.call('ZRANGE', K.waiting, 0, 0, 'WITHSCORES')[2]
local holding = R.hold_until > R.now and wall(R.hold_until) or 0
local oldest = head and not R.hidden and max(0, R.now - arrival(tonumber(head))) or 0
local out = reply('ok', 'mode', R.mode, 'waiting', R.n_waiting, 'called', live_called(), 'inside', live_inside(),
  'entries', entries_in_window(), 'hold_until', holding, 'oldest', oldest, 'may_return', may_return(),
  'hidden', R.hidden and 1 or 0)
-- The sums, which no other call needs to read.
local counters = redis.call('HMGET', K.meta, unpack(COUNTERS))
for i, name in ipairs(COUNTERS) do
  out[#out + 1] = name
  out[#out + 1] = tonumber(counters[i] or 0)
end
return out
