-- How people move: what the limits allow, who is called, and how a ticket ends. `scripts.py` puts
-- this file between `_common.lua` and the verbs that move anybody.

local HISTORY_MS = 5000 -- between two moments of the history of entries
local KEPT_MOMENTS = 60 -- most that are kept
local KEPT_SWEPT = 100000 -- most notes of who was dropped, about 13 MB, or as many as wait; the lowest go first
local CUT_OFF_MS = 30000 -- so long without a visit, where many polled, is no chance
local MANY = 20 -- of a hundred at random: who polled in the minute before it
local GONE_KEPT_MS = 604800000 -- a note of `gone`: a week, or as long as a ticket lives
local LATE_MOMENT_MS = 86400000 -- an opening or end of longer ago is no news
local KEPT_NOTES = 100000 -- of `gone` and of `kicked`, about 10 MB each: nobody fills the memory by joining and leaving
local KEPT_REINSTATED = 100 -- for other processes, which read them within seconds

-- Limits ---------------------------------------------------------------------------------------

-- Counts are asked of the server once per call, and kept right while this call moves people. By the deadline,
-- not by the size of the set: a sweep that is late must not keep anybody out. '%.0f', as Lua writes 1e+15.
local function live_called()
  R.n_called = R.n_called or redis.call('ZCOUNT', K.called, '(' .. string.format('%.0f', called_cutoff()), '+inf')
  return R.n_called
end

local function live_inside()
  R.n_inside = R.n_inside or redis.call('ZCOUNT', K.inside, '(' .. string.format('%.0f', R.now), '+inf')
  return R.n_inside
end

-- Entries that may lie in the window ending now, counted by whole buckets: late, never too many.
-- Without a limit a minute is counted all the same: a limit that is set later then knows it.
local function entries_in_window()
  if R.n_entries then return R.n_entries end
  local n, oldest, stale = 0, nil, {}
  local pairs_ = redis.call('HGETALL', K.entries)
  for i = 1, #pairs_, 2 do
    local start = tonumber(pairs_[i])
    if start + R.bucket_ms <= R.now - (R.per or 60000) then
      stale[#stale + 1] = pairs_[i]
    else
      n = n + tonumber(pairs_[i + 1])
      oldest = min(oldest or start, start)
    end
  end
  R.n_entries, R.stale_buckets = n, stale
  R.window_frees_at = oldest and oldest + R.bucket_ms + (R.per or 60000)
  return n
end

-- When the oldest of these entries has left the window for sure.
local function window_frees_at()
  entries_in_window()
  return R.window_frees_at or R.now - R.now % R.bucket_ms + R.bucket_ms + (R.per or 60000)
end

-- 60 buckets to a window: 61 small fields, however many enter, and at most 1/60 of the window too late.
local function bucket_ms(per)
  return math.ceil((per or 60000) / 60)
end

-- What a longer window must know and the buckets have forgotten, from the history: entries between
-- two of its moments count at the later one.
-- The history holds sums, so a difference of two is what entered between them; entries that buckets still
-- know (`known`, the newest) are left out.
local function add_forgotten(into, width, old_per, known)
  local total = tonumber(redis.call('HGET', K.meta, 'entered') or 0)
  local forgotten, edge, before = total - known, R.now - old_per, 0
  local history = (redis.call('HGET', K.meta, 'history') or '') .. string.format(' %.0f:%.0f', edge, total)
  for at, upto in string.gmatch(history, '(%d+):(%d+)') do
    local n = min(tonumber(upto), forgotten) - min(before, forgotten)
    at, before = min(tonumber(at), edge), tonumber(upto)
    if n > 0 and at > R.now - R.per then into[at - at % width] = (into[at - at % width] or 0) + n end
  end
end

-- Entries of the old window go into the new one's buckets by the latest moment they may have been at.
local function rekey(old_per)
  local width, old_width = bucket_ms(R.per), R.bucket_ms
  if R.per == old_per then return end
  local pairs_, known, into = redis.call('HGETALL', K.entries), 0, {}
  for i = 1, #pairs_, 2 do
    local last = tonumber(pairs_[i]) + old_width - 1
    local start, n = last - last % width, tonumber(pairs_[i + 1])
    into[start] = (into[start] or 0) + n
    known = known + n
  end
  if R.per and R.per > old_per then add_forgotten(into, width, old_per, known) end
  redis.call('UNLINK', K.entries)
  for start, n in pairs(into) do redis.call('HSET', K.entries, string.format('%.0f', start), n) end
  R.bucket_ms = width
  set('bucket_ms', width)
end

-- A slot begins a whole number of `every_s` after the last one began, so a call that comes late does not shift
-- the slots, and nobody's turn is lost to a ticker that was busy.
local function pace_left()
  if R.now >= R.slot_start + R.every then
    R.slot_start = R.now - (R.now - R.slot_start) % R.every
    R.slot_count = 0
  end
  return R.batch - R.slot_count
end

-- How many people may be called now. A direct call (nobody waits) is not paced where a rolling
-- limit is set: a quiet minute's visitors go straight in. Who is called holds a place of the capacity and an
-- entry of the window already: otherwise all who are called could enter, and the limit would be passed.
local function budget(direct, by_hand)
  if R.bypass then return LIMIT end
  if R.hold_until > R.now or not (by_hand or R.calls) then return 0 end
  local n = LIMIT
  if R.capacity then n = min(n, R.capacity - live_called() - live_inside()) end
  if R.max_entries then n = min(n, R.max_entries - entries_in_window() - live_called()) end
  if R.batch and not by_hand and not (direct and R.max_entries) then n = min(n, pace_left()) end
  return max(n, 0)
end

-- Moves ----------------------------------------------------------------------------------------

-- The time of arrival, or a step after the last place where that one is ahead: many at once, or a clock that lags.
local function next_place()
  -- Above `draw_top`: opened early, or by a clock that lags, nobody comes among those who drew.
  local place = max(R.last + STEP, R.draw_top + STEP, floor(R.now_us))
  R.last = place
  set('last', place)
  return place
end

-- The first place from here on that nobody has. It gives up after 500: then two share a place, and the order of
-- their ids decides.
local function free_place(place)
  for _ = 1, LIMIT do
    local exact = string.format('%.0f', place)
    if redis.call('ZCOUNT', K.waiting, exact, exact) == 0 then break end
    place = place + 1
  end
  return place
end

-- Before the draw everybody's place is a keyed hash scaled between the last real place and opening.
local function drawn_place(draw)
  -- At least 2^30 places, also when the opening is near or a clock lags: few draw the same one.
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

-- Only ever up, and only for calls from the head: tickets at or before it have had their turn.
local function raise_watermark(place)
  if place > R.watermark then
    R.watermark = place
    set('watermark', place)
  end
end

-- `gone` no longer knows who left from the places up to here, so only who is known to have been dropped comes back.
local function forget_up_to(place)
  if place > R.forgotten then
    R.forgotten = place
    set('forgotten', place)
  end
end

-- The lowest places of `gone` are forgotten where it holds too many: more than wait, and more than `KEPT_NOTES`.
local function forget_gone(most)
  local over = redis.call('ZCARD', K.gone) - max(KEPT_NOTES, R.n_waiting)
  if over <= 0 then return end
  local lowest = redis.call('ZPOPMIN', K.gone, min(over, most))
  forget_up_to(tonumber(lowest[#lowest]))
end

-- Takes out up to 100 members, the lowest first. Returns the score of the last one, 0 = nobody.
local function prune_up_to(key, score)
  local old = redis.call('ZRANGEBYSCORE', key, '-inf', string.format('%.0f', score), 'WITHSCORES', 'LIMIT', 0, 100)
  local members = {}
  for i = 1, #old, 2 do members[#members + 1] = old[i] end
  if #members > 0 then redis.call('ZREM', key, unpack(members)) end
  return tonumber(old[#old] or 0)
end

-- Places that are passed need no note. Where nobody is called, notes are forgotten in time; drawn places are no times,
-- so the draw itself must be so long ago.
local function prune_gone()
  prune_up_to(K.gone, max(R.watermark, R.forgotten))
  local old = R.now - max(R.ttl or 0, GONE_KEPT_MS)
  if R.draw_until < old then forget_up_to(prune_up_to(K.gone, old * 1000)) end
  forget_gone(100)
end

-- A place after the watermark could be restored by a stray poll. `gone` says no until it is passed.
local function note_gone(place, id)
  if place <= R.watermark or place <= R.forgotten then return end
  redis.call('ZADD', K.gone, 'GT', place, id)
  forget_gone(2) -- one more than has come, so that it shrinks where it is too large
end

-- `moved` is not sorted by place, so ten at random are looked at. Where it holds too many, those who do not wait are
-- noted in `gone` instead, which is bounded: just before their place, so that only earlier tickets are worth nothing.
local function prune_moved()
  local crowded = redis.call('HLEN', K.moved) > max(KEPT_NOTES, R.n_waiting)
  local some = redis.call('HRANDFIELD', K.moved, crowded and 300 or 10, 'WITHVALUES')
  for i = 1, #some, 2 do
    local id, place = some[i], tonumber(string.match(some[i + 1], ':(%d+)$'))
    local spare = crowded and not redis.call('ZSCORE', K.waiting, id)
    if spare then note_gone(place - 1, id) end
    if spare or place <= R.watermark then redis.call('HDEL', K.moved, id) end
  end
end

-- Give a turn to people who stand in no set: the caller has taken them out of `waiting`, or never put them in.
-- `places` are those that they had, so that the order can be checked afterwards.
local function mark_called(ids, places)
  local until_ms = R.enter_within and R.now + R.enter_within or FOREVER
  local args, exact = {}, {}
  for i, id in ipairs(ids) do
    args[2 * i - 1], args[2 * i] = until_ms, id
    exact[i] = string.format('%.0f', places[i])
  end
  redis.call('ZADD', K.called, unpack(args))
  if R.n_called then R.n_called = R.n_called + #ids end
  count('called_total', #ids)
  event('called', ids, 'places', table.concat(exact, ' '))
  return until_ms
end

-- Calls by hand do not come here: an operator's call is not one of the pace's.
local function count_pace(n)
  if not R.batch then return end
  pace_left()
  R.slot_count = R.slot_count + n
  set('slot_start', R.slot_start)
  set('slot_count', R.slot_count)
end

-- How many had entered by when: a few dozen moments, fine for the last minutes and coarser with
-- age, so that a window which is made longer knows what its buckets have forgotten.
-- A moment is the time of the last entry before this call, so it is written when the next one comes.
local function note_history()
  if R.last_sid == 0 or (R.now - R.history_at < HISTORY_MS and R.now >= R.history_at) then return end
  R.history_at = R.now
  set('history_at', R.now)
  local moments = {}
  for moment in string.gmatch(redis.call('HGET', K.meta, 'history') or '', '[^ ]+') do
    moments[#moments + 1] = moment
  end
  local total = tonumber(redis.call('HGET', K.meta, 'entered') or 0) + (R.counts.entered or 0)
  moments[#moments + 1] = string.format('%.0f:%.0f', floor(R.last_sid / 1000), total)
  if #moments > KEPT_MOMENTS then -- drop every second one of the older half
    for i = KEPT_MOMENTS / 2, 1, -2 do table.remove(moments, i) end
  end
  redis.call('HSET', K.meta, 'history', table.concat(moments, ' '))
end

-- Entries go into the bucket of this moment; with a new one those go that the window has passed.
local function note_entries(n)
  local bucket = string.format('%.0f', R.now - R.now % R.bucket_ms)
  if R.n_entries then R.n_entries = R.n_entries + n end
  if redis.call('HINCRBY', K.entries, bucket, n) > n then return end -- old ones went when this bucket began
  entries_in_window()
  if #R.stale_buckets > 0 then redis.call('HDEL', K.entries, unpack(R.stale_buckets)) end
  R.stale_buckets = {}
end

-- When a session that goes on now ends: after `session_s`, and never later than `longest_s` after it began.
local function session_end(began)
  local ends = R.session and R.now + R.session or FOREVER
  return R.longest and min(ends, began + R.longest) or ends
end

-- Let called people in. Returns when their sessions end, and the first one's session id: the
-- others' follow it one by one.
local function go_inside(ids)
  note_history()
  -- Session ids are times, so that they stay unique through a loss of state, and only grow.
  local first_sid = max(R.last_sid + 1, floor(R.now_us))
  R.last_sid = first_sid + #ids - 1
  set('last_sid', R.last_sid)
  local ends = session_end(R.now)
  local inside, sids, event_sids = {}, {}, {}
  for i, id in ipairs(ids) do
    event_sids[i] = string.format('%.0f', first_sid + i - 1)
    inside[2 * i - 1], inside[2 * i] = ends, id
    sids[2 * i - 1], sids[2 * i] = id, event_sids[i]
  end
  redis.call('ZREM', K.called, unpack(ids))
  redis.call('ZADD', K.inside, unpack(inside))
  redis.call('HSET', K.sids, unpack(sids))
  note_entries(#ids)
  if R.n_called then R.n_called = R.n_called - #ids end
  if R.n_inside then R.n_inside = R.n_inside + #ids end
  count('entered', #ids)
  event('entered', ids, 'sid', table.concat(event_sids, ' '))
  return ends, first_sid
end

-- When a place was taken, in ms; a drawn one is no time, so it counts from the opening.
local function arrival(place)
  local at = floor(place / 1000)
  return place <= R.draw_top and max(at, R.draw_until) or at
end

-- Whether a waiting ticket has been silent for too long, or is older than a ticket may be.
-- In a closed room nobody counts as absent: it may be closed for hours, and people come back. Nor in one that has
-- ended, for that may have been a mistake. Presence counts from the end of our own silence at the earliest.
local function is_absent(place, seen_s)
  if R.rests then return false end
  local arrived = arrival(place)
  if R.ttl and R.now - arrived > R.ttl then return true end
  local last = max(seen_s and seen_s * 1000 or arrived, R.resumed_at)
  return R.presence ~= nil and R.now - last > R.presence
end

-- The position of somebody who waits as they are told it; 0 = hidden.
local function told_position(id)
  return (R.hidden or restoring()) and 0 or redis.call('ZRANK', K.waiting, id) + 1
end

-- `waiting` and `seen` lose people together: a heartbeat of somebody who does not wait would stay for ever.
local function drop_waiting(ids)
  redis.call('ZREM', K.waiting, unpack(ids))
  redis.call('HDEL', K.seen, unpack(ids))
  R.n_waiting = R.n_waiting - #ids
end

-- Up to here nobody comes back: their turn has passed, or their ticket is too old. Drawn places are no times.
local function no_return_up_to()
  if not R.ttl or R.draw_until > R.now - R.ttl then return R.watermark end
  return max(R.watermark, (R.now - R.ttl) * 1000)
end

-- How many of those who were dropped may still come back.
local function may_return()
  local n = redis.call('ZCOUNT', K.swept, '(' .. string.format('%.0f', no_return_up_to()), '+inf')
  if not returns_end() then return n end
  return min(n, redis.call('ZCOUNT', K.swept_at, string.format('%.0f', R.now - R.returns), '+inf'))
end

-- Whoever is here again, or has left for good, is no longer somebody who may come back. Returns 1 if they were.
local function forget_swept(id)
  local was = redis.call('ZREM', K.swept, id)
  if was == 1 then redis.call('ZREM', K.swept_at, id) end
  return was
end

-- Of somebody who joins on purpose: where the same id had another place before, only this one counts from now on.
local function begin_anew(id, place)
  if redis.call('ZREM', K.gone, id) + forget_swept(id) > 0 or redis.call('HEXISTS', K.moved, id) == 1 then
    redis.call('HSET', K.moved, id, string.format('0:%.0f', place))
  end
end

-- Drop people who have been silent for too long. A place survives a closed tab, so it is noted who may come back.
local function drop_absent(ids, places)
  if #ids == 0 then return end
  local swept, times, floor_place = {}, {}, no_return_up_to()
  for i, id in ipairs(ids) do
    if places[i] > floor_place then
      swept[#swept + 1], swept[#swept + 2] = places[i], id
      times[#times + 1], times[#times + 2] = R.now, id
    end
  end
  drop_waiting(ids)
  if #swept > 0 then redis.call('ZADD', K.swept, unpack(swept)) end
  if #times > 0 and R.returns then redis.call('ZADD', K.swept_at, unpack(times)) end
  count('abandoned', #ids)
  event('ended', ids, 'reason', 'abandoned')
end

-- Notes of who cannot come back any more, and of more people than are kept: a bounded part at each call.
local function prune_swept()
  local edge = string.format('%.0f', no_return_up_to())
  local old = redis.call('ZRANGEBYSCORE', K.swept, '-inf', edge, 'LIMIT', 0, LIMIT)
  local over = redis.call('ZCARD', K.swept) - max(KEPT_SWEPT, R.n_waiting)
  if #old == 0 and over > 0 then old = redis.call('ZRANGE', K.swept, 0, min(over, LIMIT) - 1) end
  if #old == 0 then return end
  redis.call('ZREM', K.swept, unpack(old))
  redis.call('ZREM', K.swept_at, unpack(old))
end

-- Whether visitors cannot reach us, though the backend and the ticker go on: many polled within a minute, then nobody
-- did anything. A dead load balancer looks like that, and people do not. While it lasts nobody is dropped or called,
-- and no turn runs out; the next visit ends it.
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
    -- Who joined and never polled may be nobody at all. A drawn place does not tell when they joined.
    local came_again = place and (place <= R.draw_top or seen_s * 1000 > place / 1000 + 1000)
    if seen_s >= since_s and came_again then polled = polled + 1 end
  end
  if polled < MANY then return false end
  give_time_back(R.polled_at + 1000)
  if R.now - R.polled_at > R.recover then hold(R.polled_at) end
  return true
end

-- Call up to `want` people from the head who are there, dropping the absent on the way, and look
-- at no more than `allowance` in all. Returns how many were called, dropped.
-- Who is absent is found just when their turn comes: a place is never given to somebody who is not there to
-- take it, and a sweep of the whole line may take its time.
local function call_from_head(want, allowance)
  local take, take_places, drop, drop_places, places, seen_n = {}, {}, {}, {}, {}, 0
  while #take < want and seen_n < allowance do
    -- At least 50 at a time: where many are absent, asking for one by one would cost a command each.
    local n = min(allowance - seen_n, max(want - #take, 50))
    local page = redis.call('ZRANGE', K.waiting, seen_n, seen_n + n - 1, 'WITHSCORES')
    if #page == 0 then break end
    local ids = {}
    for i = 1, #page, 2 do ids[#ids + 1] = page[i] end
    local polls = redis.call('HMGET', K.seen, unpack(ids))
    for i, id in ipairs(ids) do
      local place = tonumber(page[2 * i])
      seen_n = seen_n + 1
      -- In a room rebuilt from our memory, who is not after the watermark was served before: they
      -- came back through a process that did not know so yet. A record knows whom it put there.
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
  -- Read first, written after: the pages above are ranks, and would shift under a removal.
  if #take > 0 then
    drop_waiting(take)
    mark_called(take, take_places)
    redis.call('HDEL', K.moved, unpack(take))
    redis.call('HSET', K.meta, 'waited_ms', max(0, R.now - arrival(places[#places - 1]))) -- for `sample` alone
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
-- `allowance` bounds those looked at, the absent included: one call moves 500 people at most in all that it does.
local function admission(allowance)
  if R.n_waiting == 0 then return 0, 0 end
  local want = min(budget(), allowance)
  if want == 0 then return 0, 0 end
  local called, dropped = call_from_head(want, allowance)
  if called > 0 then count_pace(called) end
  return called, dropped
end

-- End the sessions or turns of `ids`; those inside by `sid` can be revoked before their time.
-- Only lists of at most 500: `unpack` puts them on Lua's stack.
local function end_all(key, ids, reason)
  if #ids == 0 then return end
  redis.call('ZREM', key, unpack(ids))
  if key == K.inside then redis.call('HDEL', K.sids, unpack(ids)) end
  count(reason, #ids)
  event('ended', ids, 'reason', reason)
end

-- What a process remembers of an ending, to end it again after a loss: id, reason, the place up to which nobody comes
-- back (0 = none), the session (0 = none) and until when its pass runs, and when it was; wall-clock ms.
local function note_ending(id, reason, place, sid, ends)
  if place <= R.draw_top then place = 0 end -- who joins a draw again has the same place, and must keep that one
  R.endings = R.endings or {}
  R.endings[#R.endings + 1] = string.format('%s %s %.0f %s %.0f %.0f', id, reason, place, sid, ends, wall(R.now))
end

-- Take one ticket out of wherever it is. Returns the state it had, or nil. With a claim also one that is nowhere
-- but could come back: after a loss people leave who have not been restored yet.
local function take_out(id, reason, claim)
  local state, score = locate(id)
  if state == 'waiting' then
    drop_waiting({id})
    note_gone(score, id)
    redis.call('HDEL', K.moved, id)
    note_ending(id, reason, score, '0', 0)
    count(reason, 1)
    event('ended', {id}, 'reason', reason)
  elseif state == 'called' then
    note_ending(id, reason, tonumber(redis.call('ZSCORE', K.gone, id) or 0), '0', 0)
    if R.n_called then R.n_called = R.n_called - 1 end
    end_all(K.called, {id}, reason)
  elseif state == 'inside' then
    -- Its pass verifies until it runs out. `done` keeps a gate from vouching the session back in with `renew`.
    local sid, ends = redis.call('HGET', K.sids, id), min(score, R.now + SESSION_KEPT_MS)
    if sid then
      redis.call('ZADD', K.done, ends, sid)
      note_ending(id, reason, tonumber(redis.call('ZSCORE', K.gone, id) or 0), sid, wall(ends))
    end
    if R.n_inside then R.n_inside = R.n_inside - 1 end
    end_all(K.inside, {id}, reason)
  elseif state then -- its time is over, only no sweep has been here yet
    end_all(state == 'expired' and K.inside or K.called, {id}, state)
  elseif claim then
    local word, place = judge_absent(id, claim)
    if word == 'absent' or word == 'abandoned' then
      note_gone(place, id)
      forget_swept(id)
      note_ending(id, reason, place, '0', 0)
      R.changed = true -- it could have come back, and now cannot: no counter tells, but a failover may lose it
    end
  end
  return state
end

-- Somebody has a place again whatever ended before it: tickets of an earlier one bring them to this one.
local function stand_again(id, place)
  local defers = string.match(redis.call('HGET', K.moved, id) or '', '^%d+') or '0'
  redis.call('HSET', K.moved, id, string.format('%s:%.0f', defers, place))
  redis.call('ZREM', K.kicked, id)
  if tonumber(redis.call('ZSCORE', K.gone, id) or 0) < place then redis.call('ZREM', K.gone, id) end
end

-- What a process remembers of somebody who was reinstated, to do it again after a loss; and for other processes the
-- newest of them: 'id place at', by blanks.
local function note_reinstated(id, place)
  local notes = {}
  for note in string.gmatch(redis.call('HGET', K.meta, 'reinstatements') or '', '%S+ %d+ %d+') do
    notes[#notes + 1] = note
  end
  if #notes >= KEPT_REINSTATED then table.remove(notes, 1) end
  notes[#notes + 1] = string.format('%s %.0f %.0f', id, place, wall(R.now))
  redis.call('HSET', K.meta, 'reinstatements', table.concat(notes, ' '))
  R.endings = R.endings or {}
  R.endings[#R.endings + 1] = string.format('%s reinstated %.0f 0 0 %.0f', id, place, wall(R.now))
end

-- Bring somebody back who was reinstated before a loss, unless they were ended or called since: then `gone` knows
-- that place, or the watermark has passed it. A poll of theirs finds the place by `moved`.
local function reinstate_again(id, place, at)
  local kicked = tonumber(redis.call('ZSCORE', K.kicked, id) or 0)
  local again = kicked > at + R.offset_ms and kicked < FOREVER
  local ended = place <= R.watermark or tonumber(redis.call('ZSCORE', K.gone, id) or 0) >= place
  if locate(id) or ended or again or redis.call('HEXISTS', K.record, id) == 1 then return end
  stand_again(id, place)
  note_place(place)
  R.changed = true
end

-- End again what the caller remembers as ended: tickets and passes verify still, and the loss has forgotten that they
-- are worth nothing. Only up to the place, and only the session, that was ended: they may have joined again since, or
-- were reinstated, which the caller may remember too.
local function end_again(endings)
  for id, reason, place, sid, ends, at in string.gmatch(endings, '(%S+) (%S+) (%d+) (%d+) (%d+) (%d+)') do
    place, ends, at = tonumber(place), tonumber(ends) + R.offset_ms, tonumber(at)
    local state, score = locate(id)
    local same_session = state == 'inside' and redis.call('HGET', K.sids, id) == sid
    local kept = redis.call('HEXISTS', K.record, id) == 1 -- a record elsewhere says where they are
    local later = tonumber(string.match(redis.call('HGET', K.moved, id) or '', ':(%d+)$') or 0) -- a place since then
    if reason == 'reinstated' then
      reinstate_again(id, place, at)
    elseif same_session and not kept then
      take_out(id, reason)
    elseif state == 'waiting' and score <= place and not kept then
      take_out(id, reason == 'finished' and 'left' or reason) -- only a session can be finished
    elseif not state and place > R.watermark and not kept then
      note_gone(place, id)
      forget_swept(id)
      R.changed = true
    end
    if reason == 'kicked' and later <= place and not locate(id) then -- they are told so; stay out if they were banned
      redis.call('ZADD', K.kicked, 'GT', at < FOREVER and at + R.offset_ms or FOREVER, id)
      R.changed = true
    end
    if sid ~= '0' and ends > R.now then
      redis.call('ZADD', K.done, 'GT', ends, sid)
      R.changed = true
    end
  end
end

-- What a room tells of itself --------------------------------------------------------------------

-- What the policy in ARGV, from `first` on, changes: field, old, new, ... for an event that tells it.
local function differences(first)
  local old, changed, stored = {}, {}, redis.call('HGETALL', K.config)
  for i = 1, #stored, 2 do old[stored[i]] = stored[i + 1] end
  for i = first, #ARGV, 2 do
    local before = old[ARGV[i]] or ''
    if before ~= ARGV[i + 1] then
      changed[#changed + 1], changed[#changed + 2], changed[#changed + 3] = ARGV[i], before, ARGV[i + 1]
    end
  end
  return cjson.encode(changed)
end

-- Say once that the opening or end time has come. Not in a call before this one: polls write no events. A moment
-- of days ago is none that came, but one that an earlier version knew.
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
