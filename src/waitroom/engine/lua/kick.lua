-- kick: remove tickets, wherever they are; sessions are revoked, freed places given away at once.
-- KEYS: as in _common, with 18 op.
-- ARGV: 6.. ids, at most 500
-- Returns: ok (kicked, called, endings: see note_ending)
local stop = open_room() or replay()
if stop then return stop end

-- First write: everything is checked.
local kicked = 0
for i = 6, #ARGV do
  -- Without a claim: an operator knows ids, not tickets. Who is in no set after a loss cannot be kicked before
  -- a poll has restored them.
  local was = take_out(ARGV[i], 'kicked')
  if was == 'waiting' or was == 'called' or was == 'inside' then kicked = kicked + 1 end
end
-- Kicked and called people share the 500 that one call may move.
local called = admission(min(100, LIMIT - (#ARGV - 5)))
save(false)
return remember(reply('ok', 'kicked', kicked, 'called', called, 'endings', R.endings or {}))
