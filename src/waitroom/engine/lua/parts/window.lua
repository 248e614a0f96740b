-- Entries in the window of the rolling limit, by buckets.
-- Needs: nothing.

-- Entries that may lie in the window ending now, counted by whole buckets: late, never too many. Without a limit a
-- minute is still counted, so that a limit that is set later knows it.
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

-- When the oldest of these entries has certainly left the window.
local function window_frees_at()
  entries_in_window()
  return R.window_frees_at or R.now - R.now % R.bucket_ms + R.bucket_ms + (R.per or 60000)
end
