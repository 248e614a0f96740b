-- renew: extend a session from now, if the policy lets activity do so. While admission holds after
-- a loss, a session that a gate vouches for is taken in again, so that its place is not given twice.
-- KEYS: as in _common.
-- ARGV: 6 id   7 sid, or '' = whichever it has   8 wall-clock ms until which a verified pass of this
--       session runs, or ''   9 claim ('place:epoch' of its ticket)
-- Returns: inside (ends, sid) | not_renewable | session_over
local id, sid, vouched, claim = ARGV[6], ARGV[7], tonumber(ARGV[8]), ARGV[9]
local stop = open_room()
if stop then return stop end

local state, score = locate(id)
local has = redis.call('HGET', K.sids, id)
if state == 'inside' and (sid == '' or sid == has) then
  if R.p.renewable ~= '1' then
    save(false)
    return reply('not_renewable', 'ends', wall(score))
  end
  local ends = R.session and max(score, R.now + R.session) or FOREVER
  redis.call('ZADD', K.inside, ends, id)
  save(true)
  return reply('inside', 'ends', wall(ends), 'sid', tonumber(has))
end
local ends = vouched and vouched + R.offset_ms
if ends and ends > R.now and sid ~= '' and state ~= 'inside' and R.hold_until > R.now
  and not redis.call('ZSCORE', K.done, sid) then
  local _, place = judge_absent(id, claim)
  if state == 'waiting' then
    drop_waiting({id})
    place = score
  end
  -- It is served: its place must not come back when the session is over.
  if place and place > R.watermark then redis.call('ZADD', K.gone, place, id) end
  redis.call('ZREM', K.called, id)
  redis.call('ZADD', K.inside, ends, id)
  redis.call('HSET', K.sids, id, sid)
  if tonumber(sid) > R.last_sid then set('last_sid', tonumber(sid)) end
  save(true)
  return reply('inside', 'ends', wall(ends), 'sid', tonumber(sid))
end
save(false)
return reply('session_over')
