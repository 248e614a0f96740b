-- Turns and sessions by their deadline, whether or not a sweep has run.
-- Needs: nothing.

-- Called tickets with an enter-by up to here have lost their turn. Those whose time ran out while we were silent get it
-- again, from the moment we were back.
local function called_cutoff()
  if R.now < R.grace_until then return min(R.now, R.silent_from - 1) end
  return R.now
end

-- The enter-by that people are told: the one that `called_cutoff` will apply, so never earlier than the truth.
local function enter_by(score)
  if score >= R.silent_from then return max(score, R.grace_until) end
  return score
end

-- When a session that continues now ends: after `session_s`, and never later than `longest_s` after it began.
local function session_end(began)
  local ends = R.session and R.now + R.session or FOREVER
  return R.longest and min(ends, began + R.longest) or ends
end

-- Where a ticket is, by its deadline, whether or not a sweep has run: state, score. Waiting is checked first, as most
-- of those who ask are waiting.
local function locate(id)
  local score = redis.call('ZSCORE', K.waiting, id)
  if score then return 'waiting', tonumber(score) end
  score = tonumber(redis.call('ZSCORE', K.called, id) or nil)
  if score then
    if score > called_cutoff() then return 'called', score end
    return 'no_show', score
  end
  score = tonumber(redis.call('ZSCORE', K.inside, id) or nil)
  if score then
    if score > R.now then return 'inside', score end
    return 'expired', score
  end
end
