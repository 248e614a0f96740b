-- How a turn, a session or a place ends.
-- Needs: code_returns, deadlines, events, gone, line, nowhere, returns, saving.

-- End the sessions or turns of `ids`; with `sid`, people inside can be revoked before their time. Only lists of at most
-- 500: `unpack` puts them on Lua's stack.
local function end_all(key, ids, reason)
  if #ids == 0 then return end
  redis.call('ZREM', key, unpack(ids))
  if key == K.inside then redis.call('HDEL', K.sids, unpack(ids)) end
  count(reason, #ids)
  event('ended', ids, 'reason', reason)
end

-- What a process remembers of an ending, to end it again after a loss: id, reason, the place up to which nobody comes
-- back (0 = none), the session (0 = none) and until when its pass runs, and when it ended; wall-clock ms. The reason
-- 'stranger' is a kick of somebody whom nothing knew: the place is not theirs.
local function note_ending(id, reason, place, sid, ends)
  if place <= R.draw_top then place = 0 end -- whoever joins a draw again gets the same place, and must keep it
  R.endings = R.endings or {}
  R.endings[#R.endings + 1] = string.format('%s %s %.0f %s %.0f %.0f', id, reason, place, sid, ends, wall(R.now))
end

-- Take one ticket out of wherever it is. Returns the state it had, or nil. With a claim, also a ticket that is nowhere
-- but could come back: after a loss, people leave who have not been restored yet.
local function take_out(id, reason, claim)
  local state, score = locate(id)
  if state == 'waiting' then
    drop_waiting({id})
    if reason == 'left' then give_back(id) end
    note_gone(score, id)
    redis.call('HDEL', K.moved, id)
    note_ending(id, reason, score, '0', 0)
    count(reason, 1)
    event('ended', {id}, 'reason', reason)
  elseif state == 'called' then
    note_ending(id, reason, tonumber(redis.call('ZSCORE', K.gone, id) or 0), '0', 0)
    if R.n_called then R.n_called = R.n_called - 1 end
    end_all(K.called, {id}, reason)
  elseif state == 'inside' then
    -- Its pass is valid until it runs out. `done` keeps a gate from vouching the session back in with `renew`.
    local sid, ends = redis.call('HGET', K.sids, id), min(score, R.now + SESSION_KEPT_MS)
    if sid then
      redis.call('ZADD', K.done, ends, sid)
      note_ending(id, reason, tonumber(redis.call('ZSCORE', K.gone, id) or 0), sid, wall(ends))
    end
    if R.n_inside then R.n_inside = R.n_inside - 1 end
    end_all(K.inside, {id}, reason)
  elseif state then -- its time is over, but no sweep has run yet
    end_all(state == 'expired' and K.inside or K.called, {id}, state)
  elseif claim then
    local word, place = judge_absent(id, claim)
    if word == 'absent' or word == 'abandoned' then
      if reason == 'left' then give_back(id) end
      note_gone(place, id)
      forget_swept(id)
      note_ending(id, reason, place, '0', 0)
      R.changed = true -- it could have come back, and now cannot: no counter shows it, but a failover may lose it
    end
  end
  return state
end
