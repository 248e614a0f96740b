-- advance: one bounded step of housekeeping and admission; safe to run in every process at once.
-- Needs: absence, admission, budget, calling, cut_off, deadlines, endings, moments, opening, pruning, saving.
-- KEYS: as in _common.
-- ARGV: 6 most members to move, at most 500
-- Returns: ok, called, expired, no_shows, abandoned, waiting, more (1 = call again now), due
--   (wall-clock ms of the next thing to do, 0 = nothing foreseeable)
local stop = open_room()
if stop then return stop end

local HISTORY_AFTER_MS = 120000
local left = min(tonumber(ARGV[6]), LIMIT)

-- Ends turns and sessions past their deadline, oldest first. Other verbs judge by the deadline anyway: this records it.
local function sweep(key, cutoff, reason)
  local ids = redis.call('ZRANGEBYSCORE', key, '-inf', string.format('%.0f', cutoff), 'LIMIT', 0, left)
  end_all(key, ids, reason)
  left = left - #ids
  return #ids
end

-- A lap over all waiting people takes about `presence_s`, in steps that every process shares.
local function sweep_absent()
  local span = R.presence or R.ttl
  if not span or R.n_waiting == 0 or R.rests or left == 0 then return 0 end
  -- Not due yet. But a time further away than a lap dates from before a policy change, or a clock that went back.
  if R.now < R.sweep_at and R.sweep_at - R.now <= span then return 0 end
  local page = redis.call('ZRANGEBYSCORE', K.waiting, '(' .. string.format('%.0f', R.sweep_after), '+inf',
    'WITHSCORES', 'LIMIT', 0, left)
  local ids, drop, places = {}, {}, {}
  for i = 1, #page, 2 do ids[#ids + 1] = page[i] end
  local polls = #ids > 0 and redis.call('HMGET', K.seen, unpack(ids)) or {}
  for i, id in ipairs(ids) do
    local place = tonumber(page[2 * i])
    if is_absent(place, tonumber(polls[i] or nil)) then drop[#drop + 1], places[#drop + 1] = id, place end
  end
  local lap_over = #ids < left
  set('sweep_after', lap_over and 0 or tonumber(page[#page]))
  -- 400 a step is less than one call may move, so the lap keeps up with a line that grows meanwhile. At least four
  -- steps, so that a short line is not left alone for all of `presence_s`.
  R.sweep_at = R.now + floor(span / max(4, math.ceil(R.n_waiting / 400)))
  set('sweep_at', R.sweep_at)
  drop_absent(drop, places)
  left = left - #drop
  return #drop
end

-- Notes about places that the watermark has passed, and sids whose pass has ended, are useless. A bounded part is
-- removed at each call: they only cost memory, as every reader compares with the watermark or the clock.
local function prune()
  prune_swept()
  prune_gone()
  prune_up_to(K.done, R.now)
  prune_up_to(K.kicked, R.now - KICK_TOLD_MS)
  prune_moved()
end

-- What is left in an empty room is removed after `idle_ttl_s`. Old tickets cannot come back then, so nobody who was
-- kicked can either. Returns when that is due, if it is still to come.
local function tidy_idle()
  if not R.idle or R.n_waiting > 0 or redis.call('EXISTS', K.called, K.inside) > 0 then return end
  if redis.call('EXISTS', K.gone, K.moved, K.entries, K.events, K.series, K.done, K.record, K.swept) == 0 then
    -- Nothing counts in room time any more: set room time to the clock again. Not during a hold: after a failover to a
    -- server with another clock the room may be empty only because nobody is back yet.
    if R.offset ~= 0 and max(R.hold_until, R.restoring_until) <= R.now then
      for _, field in ipairs({'offset', 'slot_start', 'hold_until', 'restoring_until', 'silent_from', 'resumed_at',
        'grace_until', 'polled_at'}) do set(field, 0) end
      set('alive_at', R.raw_ms)
    end
    return
  end
  -- Entries and ended sessions must outlive the window and the passes that they stand for; samples must last until the
  -- ticker has turned their minute into history.
  local sampled = redis.call('EXISTS', K.series) == 1 and HISTORY_AFTER_MS or 0
  local at = R.active_at + max(R.idle, R.per or 0, R.session or 0, sampled)
  if R.now < at then return at end
  raise_watermark(R.last) -- `gone` is removed, so no place given out so far may be restored any more
  redis.call('UNLINK', K.gone, K.moved, K.entries, K.events, K.series, K.done, K.sids, K.seen, K.record, K.swept,
    K.swept_at)
  redis.call('ZREMRANGEBYSCORE', K.kicked, '-inf', string.format('(%.0f', FOREVER)) -- bans stay
end

-- The earliest deadline of a set, passed or not.
local function first(key)
  return tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or FOREVER)
end

-- When the ticker must call again. Too early costs a call; too late makes people wait.
local function due(idle_at)
  local at = min(first(K.inside), idle_at or FOREVER, next_moment())
  local turn = first(K.called)
  if turn < FOREVER then at = min(at, enter_by(turn), R.now + 1000) end
  if R.n_waiting == 0 then return at end
  at = min(at, R.now + 1000) -- while people wait: a changed policy acts at once, our silence shows
  if (R.presence or R.ttl) and not R.rests then at = min(at, R.sweep_at > 0 and R.sweep_at or FOREVER) end
  if not R.calls then
    return R.before and min(at, R.opens_at_ms + R.offset_ms) or at
  end
  if R.hold_until > R.now then return min(at, R.hold_until) end
  if R.batch and pace_left() <= 0 then at = min(at, R.slot_start + R.every) end
  if R.max_entries and R.window_frees_at then at = min(at, R.window_frees_at) end
  return at
end

-- First write: everything is checked.
-- Endings first: the admission of the same call gives away what they free. Absent people come last, with what is left
-- of the 500: nobody waits for that.
local cut_off = visitors_cut_off()
local expired = sweep(K.inside, R.now, 'expired')
local no_shows = sweep(K.called, called_cutoff(), 'no_show')
local called, dropped = admission(cut_off and 0 or left)
left = left - called - dropped
local abandoned = sweep_absent() + dropped
prune()
tell_moments()
local idle_at = tidy_idle()
save(false) -- `count` knows whether anybody's state changed
local more = left == 0 or (R.n_waiting > 0 and dropped > 0 and budget() > 0)
local at = more and R.now or max(due(idle_at), R.now + 1)
return reply('ok', 'called', called, 'expired', expired, 'no_shows', no_shows, 'abandoned', abandoned,
  'waiting', R.n_waiting, 'more', more and 1 or 0, 'due', wall(at))
