-- After a loss, do again what a process remembers.
-- Needs: deadlines, endings, gone, places, reinstating, returns, strangers.

-- Bring back somebody who was reinstated before a loss, unless they were ended or called since: then `gone` has that
-- place, or the watermark has passed it. Their poll finds the place by `moved`.
local function reinstate_again(id, place, at)
  local kicked = tonumber(redis.call('ZSCORE', K.kicked, id) or 0)
  local again = kicked > at + R.offset_ms and kicked < FOREVER
  local ended = place <= R.watermark or tonumber(redis.call('ZSCORE', K.gone, id) or 0) >= place
  if locate(id) or ended or again or redis.call('HEXISTS', K.record, id) == 1 then return end
  stand_again(id, place)
  note_place(place)
  R.changed = true
end

-- End again what the caller remembers as ended: tickets and passes are still valid, and the loss has forgotten that
-- they are worthless. Only up to the place, and only the session, that was ended: people may have joined again since,
-- or were reinstated, which the caller may remember too.
local function end_again(endings)
  for id, reason, place, sid, ends, at in string.gmatch(endings, '(%S+) (%S+) (%d+) (%d+) (%d+) (%d+)') do
    place, ends, at = tonumber(place), tonumber(ends) + R.offset_ms, tonumber(at)
    local stranger = reason == 'stranger' -- kicked, though nothing knew them
    if stranger then reason = 'kicked' end
    local state, score = locate(id)
    local same_session = state == 'inside' and redis.call('HGET', K.sids, id) == sid
    local kept = redis.call('HEXISTS', K.record, id) == 1 -- a record elsewhere says where they are
    local later = tonumber(string.match(redis.call('HGET', K.moved, id) or '', ':(%d+)$') or 0) -- a place since then
    if reason == 'reinstated' then
      reinstate_again(id, place, at)
    elseif same_session and not kept then
      take_out(id, reason)
    elseif state == 'waiting' and score <= place and not kept then
      -- Only a session can be finished; and whoever had one has used up their entry code.
      if reason == 'finished' then redis.call('HDEL', K.coded, id) end
      take_out(id, reason == 'finished' and 'left' or reason)
    elseif not state and place > R.watermark and not kept then
      if stranger then note_kicked_absent(place, id) else note_gone(place, id) end
      forget_swept(id)
      R.changed = true
    end
    if reason == 'kicked' and later <= place and not locate(id) then -- tell them so; stay out if they were banned
      redis.call('ZADD', K.kicked, 'GT', at < FOREVER and at + R.offset_ms or FOREVER, id)
      R.changed = true
    end
    if sid ~= '0' and ends > R.now then
      redis.call('ZADD', K.done, 'GT', ends, sid)
      R.changed = true
    end
  end
end
