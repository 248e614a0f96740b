-- People who wait but have been silent for too long.
-- Needs: events, line, returns, saving.

-- Whether a waiting ticket has been silent for too long, or is older than a ticket may be.
-- In a closed room nobody counts as absent: it may be closed for hours, and people come back. Nor in a room that has
-- ended, because that may have been a mistake. Presence counts from the end of our own silence at the earliest.
local function is_absent(place, seen_s)
  if R.rests then return false end
  local arrived = arrival(place)
  if R.ttl and R.now - arrived > R.ttl then return true end
  local last = max(seen_s and seen_s * 1000 or arrived, R.resumed_at)
  return R.presence ~= nil and R.now - last > R.presence
end

-- Drop people who have been silent for too long. A place survives a closed tab, so note who may come back.
local function drop_absent(ids, places)
  if #ids == 0 then return end
  local swept, times, floor_place = {}, {}, no_return_up_to()
  for i, id in ipairs(ids) do
    if places[i] > floor_place then
      swept[#swept + 1], swept[#swept + 2] = places[i], id
      times[#times + 1], times[#times + 2] = R.now, id
    end
  end
  drop_waiting(ids)
  if #swept > 0 then redis.call('ZADD', K.swept, unpack(swept)) end
  if #times > 0 and R.returns then redis.call('ZADD', K.swept_at, unpack(times)) end
  count('abandoned', #ids)
  event('ended', ids, 'reason', 'abandoned')
end
