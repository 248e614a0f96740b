-- Waiting people: since when they wait, and at which position.
-- Needs: clock.

-- When a place was taken, in ms; a drawn place is not a time, so it counts from the opening.
local function arrival(place)
  local at = floor(place / 1000)
  return place <= R.draw_top and max(at, R.draw_until) or at
end

-- The position that a waiting person is told; 0 = hidden.
local function told_position(id)
  return (R.hidden or restoring()) and 0 or redis.call('ZRANK', K.waiting, id) + 1
end

-- `waiting` and `seen` lose people together: otherwise a heartbeat of somebody who does not wait would stay for ever.
local function drop_waiting(ids)
  redis.call('ZREM', K.waiting, unpack(ids))
  redis.call('HDEL', K.seen, unpack(ids))
  R.n_waiting = R.n_waiting - #ids
end
