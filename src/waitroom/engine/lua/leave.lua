-- leave: give up a place, a turn or a session; the freed place goes to the next one at once.
-- KEYS: as in _common, with 15 op.
-- ARGV: 6 id   7 claim ('place:epoch' of its ticket)
-- Returns: left (was = the state it had, 'none' = it was not here; called)
local id, claim = ARGV[6], ARGV[7]
local stop = open_room() or replay()
if stop then return stop end

local was = take_out(id, 'left', claim) or 'none'
local called = admission(100)
save(true)
return remember(reply('left', 'was', was, 'called', called), 60000)
