-- Changes the length of the window.
-- Needs: nothing.

-- 60 buckets per window: 61 small fields, however many enter, and entries leave at most 1/60 of the window too late.
local function bucket_ms(per)
  return math.ceil((per or 60000) / 60)
end

-- What a longer window must know but the buckets have forgotten, from the history: entries between two of its moments
-- count at the later one. The history holds sums, so the difference of two sums is what entered between them; entries
-- that the buckets still know (`known`, the newest) are left out.
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

-- Entries of the old window go into the new one's buckets by the latest time at which they may have happened.
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
