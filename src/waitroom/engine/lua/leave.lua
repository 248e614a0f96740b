-- leave: give up a place, a turn or a session; the freed place goes to the next person at once.
-- Needs: admission, endings, opening, repeats, saving.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 id   7 claim ('place:epoch' of its ticket)
-- Returns: left (was = the state it had, 'none' = it was not here; called; endings: see note_ending)
local id, claim = ARGV[6], ARGV[7]
local stop = open_room() or replay()
if stop then return stop end

-- First write: everything is checked.
-- Somebody who is nowhere may leave too, by the claim: after a loss their place must not come back.
local was = take_out(id, 'left', claim) or 'none'
-- 100 and one minute: as in finish.
local called = admission(100)
save(false)
return remember(reply('left', 'was', was, 'called', called, 'endings', R.endings or {}), 60000)
