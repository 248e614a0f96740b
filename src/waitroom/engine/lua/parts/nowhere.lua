-- Why a ticket is in no state, and whether it may come back.
-- Needs: nothing.

-- Whether `return_s` has run out for everybody who was dropped before it. It counts from the end of our own silence at
-- the earliest, and not in a room that rests.
local function returns_end()
  return R.returns ~= nil and not R.rests and R.now - R.resumed_at > R.returns
end

-- Dropped for silence, and back too late. People dropped before the policy had `return_s` have no time noted:
-- `configure` starts theirs with the change.
local function is_overdue(id)
  if not returns_end() or not redis.call('ZSCORE', K.swept, id) then return false end
  return R.now - tonumber(redis.call('ZSCORE', K.swept_at, id) or 0) > R.returns
end

-- Whether an operator has removed this ticket since a moment (in ms), and it has not joined again. This only explains
-- why somebody is gone; `gone` and the watermark keep them out.
local function was_kicked(id, since)
  local at = tonumber(redis.call('ZSCORE', K.kicked, id) or nil)
  return at ~= nil and at >= (since or R.now - KICK_TOLD_MS)
end

-- Why a ticket is nowhere, and its place if that is still to come; 'absent' = it may have it back. Python has checked
-- the claim: it is what a signed ticket says.
local function judge_absent(id, claim)
  local place, epoch = string.match(claim, '^(%d+):(%d+)$')
  if not place then return 'unknown' end
  place = tonumber(place)
  epoch = tonumber(epoch)
  -- This room never had a later epoch: another deployment with the same secret issued that ticket. `doctor` reports it.
  if epoch > R.epoch then R.foreign = (R.foreign or 0) + 1 end
  if epoch ~= R.epoch then return 'cleared' end
  local moved = redis.call('HGET', K.moved, id)
  -- A deferred ticket's older strings are still valid: the latest place counts, or a defer could be undone.
  if moved then place = max(place, tonumber(string.match(moved, ':(%d+)$'))) end
  -- Called once, with everybody up to here: that turn was used, or it ran out.
  local why = place <= R.watermark and 'passed'
  -- If a record elsewhere has told us about a ticket, only that record says where it is.
  if not why and redis.call('HEXISTS', K.record, id) == 1 then why = 'left' end
  if not why then
    -- Somebody who left and came again has a later place, which a failover may have forgotten.
    local left = tonumber(redis.call('ZSCORE', K.gone, id) or nil)
    -- An account that adopted an earlier place has given up only that later one.
    local given_up = left and redis.call('HGET', K.moved, id .. ';')
    if left and left >= place and (left == place or given_up ~= string.format('0:%.0f', left)) then why = 'left' end
  end
  -- Up to here `gone` has forgotten who left, but somebody dropped from this place has not left.
  if not why and place <= R.forgotten then
    local dropped_from = tonumber(redis.call('ZSCORE', K.swept, id) or FOREVER)
    if place < dropped_from then why = 'passed' end
  end
  if why then return was_kicked(id) and 'kicked' or why end
  return is_overdue(id) and 'abandoned' or 'absent', place
end
