-- How many people may be called now, by capacity, pace and rolling limit.
-- Needs: occupancy, window.

-- A slot begins a whole number of `every_s` after the last one began. So a late call does not shift the slots, and
-- nobody loses a turn to a ticker that was busy.
local function pace_left()
  if R.now >= R.slot_start + R.every then
    R.slot_start = R.now - (R.now - R.slot_start) % R.every
    R.slot_count = 0
  end
  return R.batch - R.slot_count
end

-- Calls by hand do not come here: an operator's call does not count for the pace.
local function count_pace(n)
  if not R.batch then return end
  pace_left()
  R.slot_count = R.slot_count + n
  set('slot_start', R.slot_start)
  set('slot_count', R.slot_count)
end

-- How many people may be called now. A direct call (nobody waits) is not paced if a rolling limit is set: visitors in a
-- quiet minute go straight in. A called person already holds a place of the capacity and an entry of the window:
-- otherwise all called people could enter, and the limit would be exceeded.
local function budget(direct, by_hand)
  if R.bypass then return LIMIT end
  if R.hold_until > R.now or not (by_hand or R.calls) then return 0 end
  local n = LIMIT
  if R.capacity then n = min(n, R.capacity - live_called() - live_inside()) end
  if R.max_entries then n = min(n, R.max_entries - entries_in_window() - live_called()) end
  if R.batch and not by_hand and not (direct and R.max_entries) then n = min(n, pace_left()) end
  return max(n, 0)
end
