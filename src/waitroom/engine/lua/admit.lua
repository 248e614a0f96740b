-- admit: call the first people by hand, as capacity and the rolling limit allow, or forced.
-- Needs: admission, budget, opening, repeats, saving.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 how many, at most 500   7 '1' = forced
-- Returns: ok (called, dropped, waiting, more: 1 = some may be left to call) |
--   holding (until) | room_paused | no_capacity
-- An operator's call respects capacity and the rolling limit, but not the pace; a forced call respects none of them.
local want, forced = tonumber(ARGV[6]), ARGV[7] == '1'
local stop = open_room() or replay()
if stop then return stop end

if not forced then
  -- Refusals that the operator can act on come last: a hold ends by itself, a pause is theirs to end.
  local word = not R.bypass and ((R.hold_until > R.now and 'holding') or (not R.by_hand and 'room_paused'))
  local room = word and 0 or budget(false, true)
  if not word and room == 0 and R.n_waiting > 0 then word = 'no_capacity' end
  -- A refusal is remembered too: the same op_id must not call people minutes later, when there is room.
  if word then return remember(no_change(word, 'until', wall(R.hold_until))) end
  want = min(want, room)
end
-- First write: everything is checked.
local called, dropped = call_from_head(min(want, LIMIT), LIMIT)
save(false)
-- Absent people used up the allowance before enough were called: the caller continues with another op_id.
local more = called < want and dropped > 0 and R.n_waiting > 0
return remember(reply('ok', 'called', called, 'dropped', dropped, 'waiting', R.n_waiting, 'more', more and 1 or 0))
