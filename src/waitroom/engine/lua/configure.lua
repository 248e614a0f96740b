-- configure: create a room, change its policy, or bring it back after a loss.
-- Needs: after_loss, changes, clock, events, opening, rekeying, repeats, saving.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 'create', 'update' or 'restore'   7 update: the version it must have, or ''; restore: the
--       version it had   8 restore: the epoch that a ticket claims, for a caller who remembers none (0 = no
--       ticket does), else ''   9 restore: endings that the caller remembers, at most 500 (see note_ending), else ''
--       10 restore: when the message was set, else ''   11.. policy fields: name, value ('' = no limit)
-- Returns: ok (version, message_at) | room_exists | version_conflict (version) | lost, unknown_room
local action, version = ARGV[6], tonumber(ARGV[7])
local stop = open_room()
if stop and (stop[2] == 'broken_room' or stop[2] == 'upgrade_needed') then return stop end
-- Even if the room is gone: a create whose reply was lost, and whose room was dropped since, still counts as done.
local again = replay()
if again then return again end

-- A room that does not exist has not been opened, so nothing has read the clock yet.
local function raw_us()
  if tonumber(ARGV[1]) then return tonumber(ARGV[1]) end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- All fields at once, as Python has checked them together: no reader sees half of a policy.
local function write_policy(new_version)
  local old = redis.call('HMGET', K.config, 'message', 'message_at')
  redis.call('HSET', K.config, 'version', new_version, unpack(ARGV, 11))
  local message = redis.call('HGET', K.config, 'message')
  -- Only a different message gets a new time. '' = there is none, or its time is unknown.
  local at = message == '' and '' or action == 'restore' and ARGV[10] or message == old[1] and (old[2] or '')
  R.message_at = at or floor(raw_us() / 1000)
  redis.call('HSET', K.config, 'message_at', R.message_at)
  R.version = new_version
end

local function done()
  return remember(reply('ok', 'version', R.version, 'message_at', tonumber(R.message_at) or 0))
end

-- A room that does not exist: new, or lost with everything it held.
local function make(new_version, rev, restored)
  local us, old = raw_us(), redis.call('HMGET', K.meta, 'epoch', 'last')
  local epoch, last = tonumber(ARGV[2]), tonumber(ARGV[5])
  -- What is left of a half-lost room would not fit the new one. `series` stays, for charts.
  redis.call('UNLINK', K.meta, K.waiting, K.seen, K.called, K.inside, K.sids, K.done, K.gone, K.moved,
    K.entries, K.events, K.record, K.swept, K.swept_at)
  -- In the same room, people who were kicked stay kicked, and used or revoked codes stay so.
  if not restored then redis.call('UNLINK', K.kicked, K.codes, K.coded, K.batches) end
  write_policy(new_version)
  read_policy()
  R.offset, R.alive_at, R.hold_until, R.n_waiting, R.changes, R.counts = 0, 0, 0, 0, {}, {}
  R.silent_from, R.resumed_at, R.grace_until, R.restoring_until = 0, 0, 0, 0
  keep_time(us)
  -- A new room never reuses an epoch or a place of a dropped one: its old tickets must stay worthless. A restored room
  -- is the same room, so its tickets count.
  if not restored then
    epoch = max(us, epoch + 1, tonumber(old[1] or 0) + 1)
    last = max(last, tonumber(old[2] or 0))
  elseif epoch == 0 then -- nobody remembers it: the room of the tickets that were shown, or a new one
    local claim = tonumber(ARGV[8]) or 0
    epoch = claim > 0 and claim or us
  end
  R.epoch, R.rev, R.watermark, R.last = epoch, rev, tonumber(ARGV[4]), last
  set('schema', SCHEMA)
  set('epoch', epoch)
  set('last', last)
  set('watermark', R.watermark)
  set('bucket_ms', bucket_ms(R.per))
  set('resumed_at', R.now) -- presence counts from here: people could not poll a room that did not exist
  set('draw_floor', max(last, R.watermark))
  set('event_no', R.event_no)
  -- A moment that came before the room was created, or lost, is not an event.
  if R.opens_at_ms and R.raw_ms >= R.opens_at_ms then set('told_opened', R.opens_at_ms) end
  if R.ends_at_ms and R.raw_ms >= R.ends_at_ms then set('told_ended', R.ends_at_ms) end
  if restored then
    set('rebuilt', 1)
    if R.opens_at_ms and R.p.before_open == 'draw' then -- drawn places are not times
      set('draw_top', R.opens_at_ms * 1000)
      set('draw_until', R.opens_at_ms)
    end
    end_again(ARGV[9])
    hold() -- people come back with their polls, in any order: nobody is called before they had time to
  end
  save(true)
  return done()
end

if stop then -- 'lost' or 'unknown_room'; a room dropped on purpose is not brought back
  if action == 'update' or (action == 'restore' and stop[2] ~= 'lost') then return stop end
elseif action == 'create' then
  return reply('room_exists')
elseif action == 'update' and version and version ~= R.version then
  return reply('version_conflict', 'version', R.version)
end

-- First write: everything is checked.
if stop and action == 'create' then return make(1, 0, false) end
if stop then return make(max(version, 1), tonumber(ARGV[3]) + REV_JUMP, true) end
if action == 'restore' then
  end_again(ARGV[9])
  if version <= R.version then return no_change('ok', 'version', R.version) end -- another process was quicker
end
-- Restoring a room that exists brings a later policy, which a failover lost.
local rested, drew, old_per, returned, changed = R.rests, R.draws, R.per, R.returns, differences(11)
write_policy(action == 'restore' and version or R.version + 1)
read_policy()
judge_mode()
rekey(old_per or 60000)
-- While the room was closed or ended, nobody was swept, and nobody knew that they had to be back by a time: both count
-- from now.
if (rested and not R.rests) or (R.returns and not returned) then
  set('resumed_at', R.now)
end
-- A draw begins: its places come after all places given so far. A draw that is already on keeps its floor.
if R.draws and not drew then set('draw_floor', max(R.last, R.watermark, R.draw_top)) end
event('room.changed', {}, 'version', R.version, 'changed', changed)
set('sweep_at', 0) -- presence may be shorter now: the sweep starts at once
save(true)
return done()
