-- kick: remove tickets, wherever they are; sessions are revoked, freed places given away at once.
-- KEYS: as in _common, with 15 op.
-- ARGV: 6.. ids, at most 500
-- Returns: ok (kicked, called)
local stop = open_room() or replay()
if stop then return stop end

local kicked = 0
for i = 6, #ARGV do
  local was = take_out(ARGV[i], 'kicked')
  if was == 'waiting' or was == 'called' or was == 'inside' then kicked = kicked + 1 end
end
local called = admission(min(100, LIMIT - (#ARGV - 5)))
save(true)
return remember(reply('ok', 'kicked', kicked, 'called', called))
