-- People go inside.
-- Needs: deadlines, events, saving, window.

local HISTORY_MS = 5000 -- between two moments of the history of entries
local KEPT_MOMENTS = 60 -- most moments that are kept

-- How many had entered by when: a few dozen moments, fine for the last minutes and coarser with age, so that a window
-- which becomes longer knows what its buckets have forgotten. A moment is the time of the last entry before this call,
-- so it is written when the next entry comes.
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
  if #moments > KEPT_MOMENTS then -- drop every second moment of the older half
    for i = KEPT_MOMENTS / 2, 1, -2 do table.remove(moments, i) end
  end
  redis.call('HSET', K.meta, 'history', table.concat(moments, ' '))
end

-- Entries go into the bucket of this moment; a new bucket removes those that the window has passed.
local function note_entries(n)
  local bucket = string.format('%.0f', R.now - R.now % R.bucket_ms)
  if R.n_entries then R.n_entries = R.n_entries + n end
  if redis.call('HINCRBY', K.entries, bucket, n) > n then return end -- old buckets were removed when this one began
  entries_in_window()
  if #R.stale_buckets > 0 then redis.call('HDEL', K.entries, unpack(R.stale_buckets)) end
  R.stale_buckets = {}
end

-- Let called people in. Returns when their sessions end, and the first session id: the others follow it one by one.
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
  if R.once then redis.call('SADD', K.been, unpack(ids)) end
  note_entries(#ids)
  if R.n_called then R.n_called = R.n_called - #ids end
  if R.n_inside then R.n_inside = R.n_inside + #ids end
  count('entered', #ids)
  event('entered', ids, 'sid', table.concat(event_sids, ' '))
  return ends, first_sid
end
