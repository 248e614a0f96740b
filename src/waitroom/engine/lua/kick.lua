-- kick: remove tickets, wherever they are, and whether or not they are here; sessions are revoked, and freed places
-- given away at once. Nobody comes back to a place they had; they may join again unless they are banned.
-- Needs: admission, endings, gone, opening, repeats, returns, saving, strangers.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 '1' = ban, '0' = none, and one that holds is lifted   7.. ids, at most 500
-- Returns: ok (kicked = how many were waiting, called or inside; called; endings: see note_ending)
local banned = ARGV[6] == '1'
local stop = open_room() or replay()
if stop then return stop end

-- An operator knows ids, not tickets: somebody who is in no set may have any place given so far, or none.
local function note_absent(id, was)
  local place = max(R.last, R.draw_top)
  if was then note_gone(place, id) end -- they had a turn or a session, which is over
  local stranger = not was and note_kicked_absent(place, id)
  note_ending(id, stranger and 'stranger' or 'kicked', place, '0', 0)
  redis.call('HDEL', K.moved, id)
  forget_swept(id)
  R.changed = true -- they could have come back, and now cannot: no counter shows it, but a failover may lose it
end

-- First write: everything is checked.
local kicked = 0
for i = 7, #ARGV do
  local id = ARGV[i]
  local was = take_out(id, 'kicked')
  if was == 'waiting' or was == 'called' or was == 'inside' then
    kicked = kicked + 1
  else
    note_absent(id, was)
  end
  redis.call('ZADD', K.kicked, banned and FOREVER or R.now, id)
end
-- Beyond this many, the oldest are not told that they were kicked, and still do not come back. Bans are never
-- forgotten.
local over = redis.call('ZCOUNT', K.kicked, '-inf', string.format('(%.0f', FOREVER)) - KEPT_NOTES
if over > 0 then redis.call('ZREMRANGEBYRANK', K.kicked, 0, min(over, LIMIT) - 1) end
-- Kicked and called people share the 500 that one call may move.
local called = admission(min(100, LIMIT - (#ARGV - 6)))
save(false)
return remember(reply('ok', 'kicked', kicked, 'called', called, 'endings', R.endings or {}))
