-- renew: extend a session from now, if the policy lets activity do so. While admission holds after a loss, a session
-- that a gate vouches for is taken in again, so that its place is not given twice.
-- Needs: deadlines, gone, line, nowhere, opening, returns, saving.
-- KEYS: as in _common.
-- ARGV: 6 id   7 sid, or '' = whichever it has   8 wall-clock ms until which a verified pass of this
--       session runs, or ''   9 claim ('place:epoch' of its ticket)
-- Returns: inside (ends, sid) | not_renewable | session_over | session_kicked
local id, sid, vouched, claim = ARGV[6], ARGV[7], tonumber(ARGV[8]), ARGV[9]
local stop = open_room()
if stop then return stop end

local state, score = locate(id)
local has = redis.call('HGET', K.sids, id)
local inside = state == 'inside' and (sid == '' or sid == has)
if inside and R.p.renewable ~= '1' then return no_change('not_renewable', 'ends', wall(score)) end
-- A gate may vouch only while admission holds: later the place may have been given to somebody else. And never for a
-- session that was ended here: its pass is still valid, but it was finished or kicked. Session ids are times.
local pass_ends = vouched and vouched + R.offset_ms
local vouchable = pass_ends and pass_ends > R.now and sid ~= '' and state ~= 'inside' and R.hold_until > R.now
  and not redis.call('ZSCORE', K.done, sid) and not was_kicked(id, tonumber(sid) / 1000)
if not inside and not vouchable then return no_change(was_kicked(id) and 'session_kicked' or 'session_over') end

-- First write: everything is checked.
if inside then
  -- Never shorter than it was, even if the policy's sessions are shorter now. A session id is the time of entry in us,
  -- also after a loss. If it is ahead of a clock that was set back: now.
  local ends = max(score, session_end(min(floor(tonumber(has) / 1000), R.now)))
  redis.call('ZADD', K.inside, ends, id)
  save(true) -- a deadline is nobody's state, so no counter shows it; but its loss must be noticed
  return reply('inside', 'ends', wall(ends), 'sid', tonumber(has))
end
local _, place = judge_absent(id, claim)
if state == 'waiting' then -- a poll was quicker than the gate
  drop_waiting({id})
  place = score
end
-- It has been served: its place must not come back when the session is over.
if place then note_gone(place, id) end
forget_swept(id)
redis.call('ZREM', K.called, id)
redis.call('HDEL', K.coded, id) -- the turn before the loss used up their entry code
redis.call('ZADD', K.inside, pass_ends, id)
redis.call('HSET', K.sids, id, sid)
if R.once then redis.call('SADD', K.been, id) end
-- Later session ids come after those from before the loss: they must stay unique.
if tonumber(sid) > R.last_sid then set('last_sid', tonumber(sid)) end
save(true)
return reply('inside', 'ends', wall(pass_ends), 'sid', tonumber(sid))
