-- The beginning of a call: read the room, and judge it at this moment.
-- Needs: clock.

-- Policies hold seconds, perhaps 0.5; scripts count in whole ms. nil stays nil: no limit.
local function ms(seconds)
  seconds = tonumber(seconds)
  return seconds and floor(seconds * 1000 + 0.5)
end

-- Wrong types are found before the first write: a script that fails half-way leaves people nowhere.
local function wrong_type(types)
  for name, want in pairs(types or TYPES) do
    local is = K[name] and redis.call('TYPE', K[name]).ok or 'none'
    if is ~= want and is ~= 'none' then return name end
  end
end

-- Each call reads the policy again: a change acts on the very next call, in every process.
local function read_policy()
  local values = redis.call('HMGET', K.config, unpack(POLICY))
  local p = {}
  for i = 1, #POLICY do p[POLICY[i]] = values[i] or '' end
  R.p = p
  R.version = tonumber(p.version) or 0
  R.capacity, R.batch, R.max_entries = tonumber(p.capacity), tonumber(p.batch), tonumber(p.max_entries)
  R.queue_limit, R.opens_at_ms, R.ends_at_ms = tonumber(p.queue_limit), tonumber(p.opens_at_ms), tonumber(p.ends_at_ms)
  R.every, R.per, R.session, R.enter_within = ms(p.every_s), ms(p.per_s), ms(p.session_s), ms(p.enter_within_s)
  R.presence, R.recover, R.ttl, R.idle = ms(p.presence_s), ms(p.recover_s) or 0, ms(p.ticket_ttl_s), ms(p.idle_ttl_s)
  R.longest, R.returns = ms(p.longest_s), ms(p.return_s)
  R.max_defers, R.once = tonumber(p.max_defers) or 0, p.once == '1'
end

-- What `mode`, `opens_at_ms`, `ends_at_ms` and `before_open` mean at this moment.
local function judge_mode()
  local mode, early = R.p.mode, R.p.before_open
  if R.ends_at_ms and (R.raw_ms >= R.ends_at_ms or R.ended == R.ends_at_ms) then
    mode = 'ended'
    if R.ended ~= R.ends_at_ms then set('ended', R.ends_at_ms) end -- a clock set back does not start it again
  end
  R.mode, R.rests = mode, mode == 'closed' or mode == 'ended'
  local before = R.opens_at_ms ~= nil and R.raw_ms < R.opens_at_ms
  if before and R.opened == R.opens_at_ms then
    before = false -- it has been open: a clock set back does not close it again
  elseif R.opens_at_ms and not before and R.opened ~= R.opens_at_ms then
    set('opened', R.opens_at_ms)
  end
  local works = mode == 'open' or mode == 'manual'
  -- 'pass' before the opening means as if there were no waiting room, but not if the room is paused or closed.
  R.draws = before and early == 'draw'
  R.hidden = R.draws or (before and R.draw_until > R.opened)
  R.bypass = mode == 'bypass' or (before and early == 'pass' and works)
  R.by_hand = works and (not before or early == 'pass')
  R.calls = R.bypass or (mode == 'open' and not before)
  R.before = before
  -- Only newcomers are refused: whoever has a place keeps it.
  if mode == 'closed' then
    R.refuses = 'room_closed'
  elseif mode == 'ended' then
    R.refuses = 'room_ended'
  elseif before and early == 'refuse' and not R.bypass then
    R.refuses = 'room_not_open'
  end
end

-- The caller may know more than we do: a failover lost the last second. Then take over what it knows, and hold, so that
-- the old order is back before anybody is called.
local function learn(rev, watermark, last)
  if R.rev < rev then
    -- Other processes may know still higher values. The jump exceeds them all, so that one loss holds once.
    R.rev = rev + REV_JUMP
    set('rev', R.rev)
    -- A replica has most of the room. People waiting at or before the watermark were called in the lost second, and
    -- nobody knows whether they entered: they keep their place, unlike in a room that was rebuilt from nothing.
    set('rebuilt', 0)
    R.rebuilt = 0
    hold()
  end
  if R.watermark < watermark then
    R.watermark = watermark
    set('watermark', watermark)
  end
  if R.last < last then
    R.last = last
    set('last', last)
  end
end

-- Read the room. Returns nil, or the reply that ends this call: nothing has been written by then.
local function open_room(types, reads)
  -- The order matters: types before any read that would fail; schema before fields that may mean something else;
  -- `dropped` before 'lost', or a process that remembers the room would bring it back.
  local bad = wrong_type(types)
  if bad then return failed('broken_room', 'key', bad) end
  read_policy()
  local values = redis.call('HMGET', K.meta, unpack(META))
  R.changes, R.counts = {}, {}
  for i = 1, #META do R[META[i]] = tonumber(values[i]) or 0 end
  if R.schema > SCHEMA then return failed('upgrade_needed', 'schema', R.schema) end
  if R.dropped > 0 then return failed('unknown_room') end
  if R.epoch == 0 or R.version == 0 then return failed('lost') end
  local epoch = tonumber(ARGV[2])
  if epoch > R.epoch then return failed('lost') end -- a replica from before a clear, or from before this room
  R.n_waiting = redis.call('ZCARD', K.waiting)
  local raw_us = tonumber(ARGV[1])
  if not raw_us then
    local time = redis.call('TIME')
    raw_us = time[1] * 1000000 + time[2]
  end
  keep_time(raw_us)
  judge_mode()
  -- A caller from an earlier epoch knows nothing that is still true; a verb that only reads cannot write it down.
  if epoch == R.epoch and not reads then learn(tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])) end
end
