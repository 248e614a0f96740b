-- Room time, what our own silence means, and the hold after a loss.
-- Needs: nothing.

-- Call nobody for `recover_s`. Never shorter than a hold that is already on: two losses are not one. After a loss
-- people come back one by one, and until all had time to, a position would be too small. `silent_from` means that
-- nothing was lost: there was a silence, in which nobody could come back either.
local function hold(silent_from)
  R.hold_until = max(R.hold_until, R.now + R.recover)
  set('hold_until', R.hold_until)
  if silent_from and R.restoring_until <= silent_from then return end
  R.restoring_until = R.hold_until
  set('restoring_until', R.restoring_until)
end

-- Whether the line may lack people after a loss.
local function restoring()
  return R.restoring_until > R.now
end

-- We were responsible for the time from `silent_from` until now: presence, returns and enter-bys count from now.
-- Whoever got their time again after an earlier silence, and had not used it up, gets it once more.
local function give_time_back(silent_from)
  if silent_from > R.grace_until then R.silent_from = silent_from end
  R.resumed_at, R.grace_until = R.now, R.now + (R.enter_within or 0)
  set('silent_from', R.silent_from)
  set('resumed_at', R.resumed_at)
  set('grace_until', R.grace_until)
end

-- A visitor reached us: see `visitors_cut_off`.
local function note_visit()
  if R.now - R.polled_at < 1000 then return end
  R.polled_at = R.now
  set('polled_at', R.now)
end

-- Room time, and what a jump of it means. Backwards: the offset grows. A long silence while people wait was ours, not
-- theirs: presence and enter-by count from now, and if it lasted `recover_s`, admission holds until people are back.
local function keep_time(raw_us)
  R.raw_ms = floor(raw_us / 1000)
  R.now = floor((raw_us + R.offset) / 1000)
  -- Less than a second is not a step: `alive_at` is that coarse, and servers' clocks are slewed all the time.
  if R.now < R.alive_at - 1000 then
    R.offset = R.offset + (R.alive_at - R.now) * 1000
    R.now = R.alive_at
    set('offset', R.offset)
  end
  R.now_us = raw_us + R.offset
  R.offset_ms = R.now - R.raw_ms
  local gap = R.now - R.alive_at
  if gap < 1000 then return end -- `alive_at` is written once a second, not by every call
  -- Half of the time people have: with all of it an outage of a minute would sweep a room with a minute's presence. At
  -- least 5 s, because a process may pause that long without anything being wrong.
  local quiet = max(5000, min(R.recover, (R.presence or FOREVER) / 2, (R.enter_within or FOREVER) / 2,
    (R.returns or FOREVER) / 2))
  -- Nobody waits and nobody is called: then a silence cost nobody anything, and there is nothing to give back.
  if gap > quiet and R.alive_at > 0 and (R.n_waiting > 0 or redis.call('EXISTS', K.called) == 1) then
    -- We may have judged by the clock until a second after `alive_at`: what was over then stays over.
    give_time_back(R.alive_at + 1000)
    if gap > R.recover then hold(R.alive_at) end
  end
  R.alive_at = R.now
  set('alive_at', R.now)
end
