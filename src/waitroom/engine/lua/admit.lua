-- admit: call the first people by hand, as capacity and the rolling limit allow, or forced.
-- KEYS: as in _common, with 15 op.
-- ARGV: 6 how many, at most 500   7 '1' = forced
-- Returns: ok (called, dropped, waiting, more: 1 = some may be left to call) |
--   holding (until) | room_paused | no_capacity
local want, forced = tonumber(ARGV[6]), ARGV[7] == '1'
local stop = open_room() or replay()
if stop then return stop end

if not forced then
  local word = not R.bypass and ((R.hold_until > R.now and 'holding') or (not R.by_hand and 'room_paused'))
  local room = word and 0 or budget(false, true)
  if not word and room == 0 and R.n_waiting > 0 then word = 'no_capacity' end
  if word then
    save(false)
    return remember(reply(word, 'until', wall(R.hold_until)))
  end
  want = min(want, room)
end
local called, dropped = call_from_head(min(want, LIMIT), LIMIT)
save(true)
local more = called < want and dropped > 0 and R.n_waiting > 0
return remember(reply('ok', 'called', called, 'dropped', dropped, 'waiting', R.n_waiting, 'more', more and 1 or 0))
