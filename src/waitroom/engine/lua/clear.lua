-- clear: empty the room and begin a new epoch; tickets of the old one are refused from now on. The
-- rolling limit still counts who went inside before.
-- KEYS: as in _common, with 15 op.
-- ARGV: none of its own
-- Returns: ok (cleared = how many were waiting, called or inside)
local stop = open_room() or replay()
if stop then return stop end

local n = R.n_waiting + live_called() + live_inside()
redis.call('UNLINK', K.waiting, K.seen, K.called, K.inside, K.sids, K.done, K.gone, K.moved, K.record)
R.epoch = max(floor(R.now_us), R.epoch + 1)
set('epoch', R.epoch)
set('sweep_after', 0)
set('hold_until', 0)
event('cleared', {})
save(true)
return remember(reply('ok', 'cleared', n))
