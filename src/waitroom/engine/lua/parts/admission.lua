-- The admission step: call people at the head, as many as the policy has room for.
-- Needs: absence, budget, calling, gone, line.

-- Call up to `want` people from the head who are present, dropping absent people on the way. Look at no more than
-- `allowance` in all. Returns how many were called, dropped. Absence is checked only when a turn comes: a place is
-- never given to somebody who is not there to take it, and a sweep of the whole line may take its time.
local function call_from_head(want, allowance)
  local take, take_places, drop, drop_places, places, seen_n = {}, {}, {}, {}, {}, 0
  while #take < want and seen_n < allowance do
    -- At least 50 at a time: if many are absent, asking one by one would cost a command each.
    local n = min(allowance - seen_n, max(want - #take, 50))
    local page = redis.call('ZRANGE', K.waiting, seen_n, seen_n + n - 1, 'WITHSCORES')
    if #page == 0 then break end
    local ids = {}
    for i = 1, #page, 2 do ids[#ids + 1] = page[i] end
    local polls = redis.call('HMGET', K.seen, unpack(ids))
    for i, id in ipairs(ids) do
      local place = tonumber(page[2 * i])
      seen_n = seen_n + 1
      -- In a room rebuilt from our memory, people not after the watermark were served before: they came back through a
      -- process that did not know this yet. A record knows whom it put there.
      local served = R.rebuilt == 1 and place <= R.watermark and redis.call('HEXISTS', K.record, id) == 0
      if served or is_absent(place, tonumber(polls[i] or nil)) then
        drop[#drop + 1], drop_places[#drop + 1] = id, place
      else
        take[#take + 1], take_places[#take + 1] = id, place
        places[#places + 1], places[#places + 2] = place, id
        if #take == want then break end
      end
    end
    if #ids < n then break end
  end
  -- Read first, written after: the pages above are ranks, and a removal would shift them.
  if #take > 0 then
    drop_waiting(take)
    mark_called(take, take_places)
    redis.call('HDEL', K.moved, unpack(take))
    redis.call('HSET', K.meta, 'waited_ms', max(0, R.now - arrival(places[#places - 1]))) -- only for `sample`
    if R.draws then -- by hand, before the draw is over: others may still draw a place in front
      redis.call('ZADD', K.gone, unpack(places))
      forget_gone(2 * #take)
    else
      raise_watermark(places[#places - 1])
    end
  end
  drop_absent(drop, drop_places)
  return #take, #drop
end

-- The admission step: give away what the policy has room for. Returns called, dropped.
-- `allowance` limits how many people are looked at, including absent ones: one call moves 500 people at most in all.
local function admission(allowance)
  if R.n_waiting == 0 then return 0, 0 end
  local want = min(budget(), allowance)
  if want == 0 then return 0, 0 end
  local called, dropped = call_from_head(want, allowance)
  if called > 0 then count_pace(called) end
  return called, dropped
end
