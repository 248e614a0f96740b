-- defer: let some people go first. The ticket moves behind the n-th person after it.
-- Needs: clock, deadlines, opening, places, repeats, saving.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 id   7 how many places
-- Returns: waiting (place, position, defers) | not_waiting (was) | defers_used_up | nobody_behind | room_not_open
--   | restoring
local id, places = ARGV[6], tonumber(ARGV[7])
local stop = open_room() or replay()
if stop then return stop end

local state = locate(id)
local defers = tonumber(string.match(redis.call('HGET', K.moved, id) or '', '^(%d+):') or 0)
local rank = redis.call('ZRANK', K.waiting, id) or 0
local word = (state ~= 'waiting' and 'not_waiting') or (R.hidden and 'room_not_open')
  or (restoring() and 'restoring') -- people who are not back yet cannot be counted
  or (defers >= R.max_defers and 'defers_used_up') or (rank == R.n_waiting - 1 and 'nobody_behind')
-- A refusal is not remembered: it changed nothing, so a repeat may be judged again.
if word then return no_change(word, 'was', state or 'none') end

local target = min(rank + places, R.n_waiting - 1)
-- Seven deferred people fit behind one person; if they are there already, go behind the next person.
local behind = redis.call('ZRANGE', K.waiting, target, target + LIMIT - 1, 'WITHSCORES')
local place = tonumber(behind[2]) + 1
for i = 4, #behind, 2 do
  if tonumber(behind[i]) > place then break end
  place = place + 1
end

-- First write: everything is checked.
defers = defers + 1
redis.call('ZADD', K.waiting, place, id)
-- Whoever asks is present. Seconds are rounded up, here and in every verb: nobody is absent too early.
redis.call('HSET', K.seen, id, math.ceil(R.now / 1000))
-- The earlier ticket string names another place, and is still valid: `moved` overrules it.
redis.call('HSET', K.moved, id, string.format('%d:%.0f', defers, place))
note_place(place)
count('deferred', 1)
save(true)
local position = redis.call('ZRANK', K.waiting, id) + 1
return remember(reply('waiting', 'place', place, 'position', position, 'defers', defers))
