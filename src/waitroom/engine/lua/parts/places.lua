-- Places: by arrival, drawn, or known from elsewhere.
-- Needs: nothing.

local STEP = 8 -- between two places, so that deferred people fit in between

-- The time of arrival, or a step after the last place if that is ahead: many at once, or a clock that lags.
local function next_place()
  -- Above `draw_top`: if the room opens early, or a clock lags, nobody gets a place among those who drew.
  local place = max(R.last + STEP, R.draw_top + STEP, floor(R.now_us))
  R.last = place
  set('last', place)
  return place
end

-- The first place from here on that nobody has. It gives up after 500: then two people share a place, and the order of
-- their ids decides.
local function free_place(place)
  for _ = 1, LIMIT do
    local exact = string.format('%.0f', place)
    if redis.call('ZCOUNT', K.waiting, exact, exact) == 0 then break end
    place = place + 1
  end
  return place
end

-- Before the opening of a draw, each place is a keyed hash scaled between the last real place and the opening.
local function drawn_place(draw)
  -- At least 2^30 places, even if the opening is near or a clock lags: few draw the same one.
  local span = max(floor((R.opens_at_ms * 1000 - R.draw_floor) / STEP) - 1, 2 ^ 30)
  local place = free_place(R.draw_floor + STEP * (1 + floor(tonumber(draw) / 2 ^ 52 * span)))
  if place > R.draw_top then
    R.draw_top = place
    set('draw_top', place)
  end
  if R.draw_until ~= R.opens_at_ms then
    R.draw_until = R.opens_at_ms
    set('draw_until', R.opens_at_ms)
  end
  return place
end

-- A place that is known from elsewhere (a ticket, a record, a defer): newcomers must come after it.
local function note_place(place)
  if R.draws then
    R.draw_top = max(R.draw_top, place)
    set('draw_top', R.draw_top)
  elseif place > R.last then
    R.last = place
    set('last', place)
  end
end

-- Wait at a place, and be there now.
local function wait_at(id, place)
  redis.call('ZADD', K.waiting, place, id)
  redis.call('HSET', K.seen, id, math.ceil(R.now / 1000))
  R.n_waiting = R.n_waiting + 1
  note_place(place)
end
