-- Notes about people who left from a place that is still to be called.
-- Needs: nothing.

local KEPT_NOTES = 100000 -- of `gone` and of `kicked`, about 10 MB each: nobody fills the memory by joining and leaving

-- `gone` no longer knows who left from the places up to here, so only people known as dropped may come back.
local function forget_up_to(place)
  if place > R.forgotten then
    R.forgotten = place
    set('forgotten', place)
  end
end

-- Forget the lowest places of `gone` if it holds too many: more than are waiting, and more than `KEPT_NOTES`.
local function forget_gone(most)
  local over = redis.call('ZCARD', K.gone) - max(KEPT_NOTES, R.n_waiting)
  if over <= 0 then return end
  local lowest = redis.call('ZPOPMIN', K.gone, min(over, most))
  forget_up_to(tonumber(lowest[#lowest]))
end

-- A stray poll could restore a place after the watermark. `gone` prevents it until the watermark has passed.
local function note_gone(place, id)
  redis.call('HDEL', K.moved, id .. ';') -- from now on the note is about all its places: see adopt
  if place <= R.watermark or place <= R.forgotten then return end
  redis.call('ZADD', K.gone, 'GT', place, id)
  forget_gone(2) -- one more than was added, so that it shrinks if it is too large
end
