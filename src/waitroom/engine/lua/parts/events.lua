-- What a call did, for everybody who follows the room.
-- Needs: nothing.

local KEPT_EVENTS = 10000 -- about: '~' lets the stream drop whole nodes only, which is cheap

-- Many tickets in one entry: a call of 500 people is one event. `at` is room time; the entry's own id is the server's
-- clock, which may differ. Numbered, so that a reader knows what it missed, even if the stream was trimmed or removed
-- meanwhile.
local function event(kind, ids, ...)
  R.event_no, R.told = R.event_no + 1, true
  if R.hidden and kind == 'ended' then table.sort(ids) end -- a swept person may come back: so show no order
  redis.call('XADD', K.events, 'MAXLEN', '~', KEPT_EVENTS, '*', 'kind', kind, 'at', R.now_us,
    'n', R.event_no, 'ids', table.concat(ids, ' '), ...)
end
