-- The opening and the end, announced once.
-- Needs: events.

local LATE_MOMENT_MS = 86400000 -- an opening or end longer ago than this is not news

-- Announce once that the opening or end time has come. Not in an earlier call: polls write no events. A moment of days
-- ago did not come just now: an earlier version knew it.
local function tell_moments()
  local function tell(kind, field, moment, told)
    if not moment or R.raw_ms < moment or told == moment then return end
    set(field, moment)
    if R.raw_ms - moment > LATE_MOMENT_MS then return end
    event(kind, {}, 'moment', moment)
    R.changed, R.active_at = true, R.now
  end
  tell('room.opened', 'told_opened', R.opens_at_ms, R.told_opened)
  tell('room.ended', 'told_ended', R.ends_at_ms, R.told_ended)
end

-- When the next of the two moments comes, with or without people.
local function next_moment()
  local at = FOREVER
  for _, moment in ipairs({R.opens_at_ms or 0, R.ends_at_ms or 0}) do
    if moment > R.raw_ms then at = min(at, moment + R.offset_ms) end
  end
  return at
end
