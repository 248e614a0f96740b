-- Remove notes that are no longer useful, a bounded part at each call.
-- Needs: gone, returns.

local GONE_KEPT_MS = 604800000 -- a note of `gone`: a week, or as long as a ticket lives

-- Removes up to 100 members, the lowest first. Returns the score of the last one, 0 = nobody.
local function prune_up_to(key, score)
  local old = redis.call('ZRANGEBYSCORE', key, '-inf', string.format('%.0f', score), 'WITHSCORES', 'LIMIT', 0, 100)
  local members = {}
  for i = 1, #old, 2 do members[#members + 1] = old[i] end
  if #members > 0 then redis.call('ZREM', key, unpack(members)) end
  return tonumber(old[#old] or 0)
end

-- Places that the watermark has passed need no note. If nobody is called, notes are forgotten after a time; drawn
-- places are not times, so the draw itself must be that long ago.
local function prune_gone()
  prune_up_to(K.gone, max(R.watermark, R.forgotten))
  local old = R.now - max(R.ttl or 0, GONE_KEPT_MS)
  if R.draw_until < old then forget_up_to(prune_up_to(K.gone, old * 1000)) end
  forget_gone(100)
end

-- `moved` is not sorted by place, so ten at random are looked at. If it holds too many, people who do not wait are
-- noted in `gone` instead, which is bounded: just before their place, so that only earlier tickets are worthless.
local function prune_moved()
  local crowded = redis.call('HLEN', K.moved) > max(KEPT_NOTES, R.n_waiting)
  local some = redis.call('HRANDFIELD', K.moved, crowded and 300 or 10, 'WITHVALUES')
  for i = 1, #some, 2 do
    local id, place = some[i], tonumber(string.match(some[i + 1], ':(%d+)$'))
    local spare = crowded and not redis.call('ZSCORE', K.waiting, id)
    if spare and not string.find(id, ';', 1, true) then note_gone(place - 1, id) end
    if spare or place <= R.watermark then redis.call('HDEL', K.moved, id) end
  end
end

-- Notes about people who can no longer come back, and notes beyond the most that are kept: a bounded part at each call.
local function prune_swept()
  local edge = string.format('%.0f', no_return_up_to())
  local old = redis.call('ZRANGEBYSCORE', K.swept, '-inf', edge, 'LIMIT', 0, LIMIT)
  local over = redis.call('ZCARD', K.swept) - max(KEPT_SWEPT, R.n_waiting)
  if #old == 0 and over > 0 then old = redis.call('ZRANGE', K.swept, 0, min(over, LIMIT) - 1) end
  if #old == 0 then return end
  redis.call('ZREM', K.swept, unpack(old))
  redis.call('ZREM', K.swept_at, unpack(old))
end
