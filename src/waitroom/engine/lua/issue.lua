-- issue: note a new batch of entry codes. Python writes the codes themselves from the batch's name; none is stored.
-- Needs: opening, repeats, saving.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 batch   7 how many codes   8 uses of each   9 note   10 who made it
-- Returns: ok (batch, record = what is noted of it, as JSON) | batch_taken | too_many_batches
local batch = ARGV[6]
local stop = open_room() or replay()
if stop then return stop end

local MOST_FIELDS = 400 -- a batch has one, a revoked one two; every process remembers them all
if redis.call('HEXISTS', K.batches, batch) == 1 then return no_change('batch_taken') end
if redis.call('HLEN', K.batches) >= MOST_FIELDS then return no_change('too_many_batches') end

-- First write: everything is checked.
local record = cjson.encode({
  count = tonumber(ARGV[7]), uses = tonumber(ARGV[8]), note = ARGV[9], by = ARGV[10],
  made_ms = string.format('%.0f', R.raw_ms),
})
redis.call('HSET', K.batches, batch, record)
save(true)
return remember(reply('ok', 'batch', batch, 'record', record))
