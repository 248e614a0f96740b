-- Whether visitors cannot reach us.
-- Needs: clock.

local CUT_OFF_MS = 30000 -- this long without a visit, or half of `presence_s`, is not chance after many polls
local MANY = 20 -- of a hundred at random: people who polled in the minute before it

-- Whether visitors cannot reach us, though the backend and the ticker go on: many polled within a minute, then nobody
-- did anything. A dead load balancer looks like that; people do not. While it lasts nobody is dropped or called, and no
-- turn runs out; the next visit ends it.
local function visitors_cut_off()
  local quiet = min(CUT_OFF_MS, max(5000, (R.presence or FOREVER) / 2))
  if R.polled_at == 0 or R.now - R.polled_at < quiet or R.n_waiting < MANY then return false end
  local some = redis.call('HRANDFIELD', K.seen, 100, 'WITHVALUES')
  local ids, polled, since_s = {}, 0, floor(R.polled_at / 1000) - 60
  for i = 1, #some, 2 do ids[#ids + 1] = some[i] end
  if #ids < MANY then return false end
  local places = redis.call('ZMSCORE', K.waiting, unpack(ids))
  for i in ipairs(ids) do
    local seen_s, place = tonumber(some[2 * i]), tonumber(places[i] or nil)
    -- Somebody who joined and never polled may not be a person at all. A drawn place does not say when they joined.
    local came_again = place and (place <= R.draw_top or seen_s * 1000 > place / 1000 + 1000)
    if seen_s >= since_s and came_again then polled = polled + 1 end
  end
  if polled < MANY then return false end
  give_time_back(R.polled_at + 1000)
  if R.now - R.polled_at > R.recover then hold(R.polled_at) end
  return true
end
