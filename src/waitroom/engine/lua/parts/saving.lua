-- The end of a call: write what changed in meta, once.
-- Needs: nothing.

local QUIET_MS = 60000 -- a change after this long without one wakes the room: its history knows what was quiet

-- Lifetime counters change exactly when somebody's state does.
local function count(field, n)
  if n == 0 then return end
  R.counts[field] = (R.counts[field] or 0) + n
  R.changed = true
end

-- Write what changed in meta: once per call, at the end. `rev` counts the calls that changed something: anybody's state
-- (`count` knows), or what the verb reports with `changed`: a deadline, the policy, the epoch, a record.
local function save(changed)
  changed = changed or R.changed
  for field, n in pairs(R.counts) do redis.call('HINCRBY', K.meta, field, n) end
  if changed then
    -- Also if `active_at` is still to come: room time starts again when a room has been cleaned up.
    -- Only `sample` reads these two, so they are not among the fields that every call reads.
    if math.abs(R.now - R.active_at) >= QUIET_MS then
      redis.call('HSET', K.meta, 'woke_at', R.now, 'woke_rev', R.rev)
    end
    R.rev = R.rev + 1
    set('rev', R.rev)
    set('active_at', R.now)
  end
  if R.foreign then
    redis.call('HINCRBY', K.meta, 'foreign', R.foreign)
    redis.call('HSET', K.meta, 'foreign_at', R.raw_ms)
  end
  if R.told then set('event_no', R.event_no) end
  if #R.changes > 0 then redis.call('HSET', K.meta, unpack(R.changes)) end
end

-- End a call that moved nobody. It still writes what the clock and the caller said (`alive_at`, a hold after a loss),
-- which must not depend on the verb's answer. The only write that may stand before the first-write mark.
local function no_change(word, ...)
  save(false)
  return reply(word, ...)
end
