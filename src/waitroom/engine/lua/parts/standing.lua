-- Somebody stands in the line again, in a place that was theirs.
-- Needs: places, returns.

-- Put an id into a place that it may have, or just behind it: after a loss of state two people may have drawn or
-- deferred to the same place. Returns the place.
local function stand(id, place)
  place = free_place(place)
  wait_at(id, place)
  forget_swept(id)
  return place
end
