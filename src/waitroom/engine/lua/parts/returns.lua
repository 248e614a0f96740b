-- Notes about people who were dropped for silence and may come back.
-- Needs: nowhere.

local KEPT_SWEPT = 100000 -- most notes about dropped people, about 13 MB, or as many as wait; the lowest go first

-- Nobody comes back up to this place: their turn has passed, or their ticket is too old. Drawn places are not times.
local function no_return_up_to()
  if not R.ttl or R.draw_until > R.now - R.ttl then return R.watermark end
  return max(R.watermark, (R.now - R.ttl) * 1000)
end

-- How many dropped people may still come back.
local function may_return()
  local n = redis.call('ZCOUNT', K.swept, '(' .. string.format('%.0f', no_return_up_to()), '+inf')
  if not returns_end() then return n end
  return min(n, redis.call('ZCOUNT', K.swept_at, string.format('%.0f', R.now - R.returns), '+inf'))
end

-- Forget somebody who is here again, or has left for good. Returns 1 if they could have come back.
local function forget_swept(id)
  local was = redis.call('ZREM', K.swept, id)
  if was == 1 then redis.call('ZREM', K.swept_at, id) end
  return was
end

-- For somebody who joins on purpose: if the same id had another place before, only the new one counts from now on.
local function begin_anew(id, place)
  if redis.call('ZREM', K.gone, id) + forget_swept(id) > 0 or redis.call('HEXISTS', K.moved, id) == 1 then
    redis.call('HSET', K.moved, id, string.format('0:%.0f', place))
  end
end
