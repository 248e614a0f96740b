-- drop: remove the room. A note of it stays for a day, so that a process which remembers the room does not mistake its
-- absence for a loss and bring it back.
-- Needs: opening, repeats.
-- KEYS: as in _common, with 24 op.
-- ARGV: none of its own
-- Returns: ok | unknown_room
-- Unlike other verbs, it checks the op_id first: a repeat finds no room any more, and must still answer ok.
local stop = replay() or open_room()
if stop then return stop end

-- First write: everything is checked.
redis.call('UNLINK', K.config, K.meta, K.waiting, K.seen, K.called, K.inside, K.sids, K.done, K.gone, K.moved,
  K.entries, K.events, K.series, K.record, K.swept, K.swept_at, K.sources, K.kicked,
  K.codes, K.coded, K.batches, K.been, K.claims)
-- Epoch, last place and the number of events stay for a room with the same name: see configure.
redis.call('HSET', K.meta, 'schema', SCHEMA, 'epoch', R.epoch, 'dropped', R.now, 'last', R.last,
  'event_no', R.event_no)
redis.call('EXPIRE', K.meta, 86400)
return remember(reply('ok'))
