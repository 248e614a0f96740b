-- How many people are called and inside.
-- Needs: deadlines.

-- The server is asked for counts once per call, and they are kept right while this call moves people. By the deadline,
-- not by the size of the set: a late sweep must not keep anybody out. '%.0f', as Lua writes 1e+15.
local function live_called()
  R.n_called = R.n_called or redis.call('ZCOUNT', K.called, '(' .. string.format('%.0f', called_cutoff()), '+inf')
  return R.n_called
end

local function live_inside()
  R.n_inside = R.n_inside or redis.call('ZCOUNT', K.inside, '(' .. string.format('%.0f', R.now), '+inf')
  return R.n_inside
end
