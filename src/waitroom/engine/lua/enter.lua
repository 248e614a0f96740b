-- enter: a called ticket goes inside; asked again, it answers the same session.
-- KEYS: as in _common.
-- ARGV: 6 id   7 claim ('place:epoch' of its ticket)
-- Returns: inside (ends, sid, new) | enter_later (at) | waiting (position) |
--   no_show, expired, absent, passed, left, cleared, unknown
local id, claim = ARGV[6], ARGV[7]
local stop = open_room()
if stop then return stop end

if R.bypass then admission(LIMIT - 1) end -- those in front first, and then perhaps this one
local state, score = locate(id)
if state == 'inside' then
  save(false)
  return reply('inside', 'ends', wall(score), 'sid', tonumber(redis.call('HGET', K.sids, id) or 0), 'new', 0)
end
if state == 'waiting' then
  save(false)
  return reply('waiting', 'position', R.draws and 0 or redis.call('ZRANK', K.waiting, id) + 1)
end
if state ~= 'called' then
  if state then take_out(id, state) end
  admission(100)
  save(state ~= nil)
  return reply(state or judge_absent(id, claim))
end
-- The limit may have been lowered since this ticket was called: it keeps its turn, and waits.
if R.max_entries and not R.bypass and entries_in_window() >= R.max_entries then
  local at = R.window_frees_at
  redis.call('ZADD', K.called, 'XX', 'GT', at + (R.enter_within or 0), id)
  save(true)
  return reply('enter_later', 'at', wall(at))
end
local ends, sid = go_inside(id)
if not R.bypass then admission(100) end
save(true)
return reply('inside', 'ends', wall(ends), 'sid', sid, 'new', 1)
