-- revoke: let nobody join any more with the codes of a batch. Whoever has a place keeps it.
-- Needs: opening, repeats, saving.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 batch   7 '1' = also one that the room does not know: a loss may have forgotten it
-- Returns: ok (at = when it was revoked, in ms) | unknown_batch
local batch, forced = ARGV[6], ARGV[7] == '1'
local stop = open_room() or replay()
if stop then return stop end

if not forced and redis.call('HEXISTS', K.batches, batch) == 0 then return no_change('unknown_batch') end

-- First write: everything is checked.
-- The first time counts: a second revocation changes nothing.
local at = tonumber(redis.call('HGET', K.batches, batch .. ':revoked') or nil)
if not at then redis.call('HSET', K.batches, batch .. ':revoked', string.format('%.0f', R.raw_ms)) end
save(at == nil)
return remember(reply('ok', 'at', at or R.raw_ms))
