-- clear: empty the room and begin a new epoch; tickets of the old one are refused from now on. The rolling limit still
-- counts people who went inside before.
-- Needs: events, occupancy, opening, repeats, saving.
-- KEYS: as in _common, with 24 op.
-- ARGV: none of its own
-- Returns: ok (cleared = how many were waiting, called or inside)
local stop = open_room() or replay()
if stop then return stop end

local n = R.n_waiting + live_called() + live_inside()
-- First write: everything is checked.
-- Keys about people's tickets are removed, and `gone` with them: the new epoch refuses their tickets anyway. `kicked`
-- stays, because a ban applies to a visitor, whatever ticket they have. `entries` and the pace stay, because clearing
-- must not let more people in than the site can take; used claims stay used. Whoever has been inside
-- may come again, and accounts may have another salt. Entry codes are as new, but revoked ones stay revoked.
redis.call('UNLINK', K.waiting, K.seen, K.called, K.inside, K.sids, K.done, K.gone, K.moved, K.record,
  K.swept, K.swept_at, K.codes, K.coded, K.been)
redis.call('HDEL', K.meta, 'reinstatements', 'salt')
-- From the clock, so that a room created again after a loss cannot get an epoch that was used before.
R.epoch = max(floor(R.now_us), R.epoch + 1)
set('epoch', R.epoch)
set('sweep_after', 0)
R.forgotten = 0
set('forgotten', 0)
set('hold_until', 0) -- nobody is left to come back, so there is nothing to wait for
set('restoring_until', 0)
event('cleared', {})
save(true)
return remember(reply('ok', 'cleared', n))
