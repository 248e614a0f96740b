-- reinstate: give a place back to somebody who was here: dropped, left, kicked, a no-show, or inside and ended by
-- mistake. They get their old place if it is known and still to come, otherwise the front of the line.
-- Needs: clock, deadlines, endings, events, line, nowhere, opening, places, reinstating, repeats, returns, saving,
--   strangers.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 id   7 claim ('place:epoch' of its ticket, '' = only the id is known)   8 what events tell of it: '' = they
--       were not read, 'turn' = it was called, 'there' = it was here, 'nothing'   9 '1' = lift a ban
--       10 '1' = somebody whom nothing knows too, at the end of the line   11 the epoch whose events were read
-- Returns: waiting (place, position, waiting; endings: see note_reinstated) | already_here (was) | still_banned
--   | kept_elsewhere | drawing | restoring | cleared | unread (nothing but the events can tell: read them, ask again)
--   | unknown_ticket
local id, claim, told = ARGV[6], ARGV[7], ARGV[8]
local lifts, forced = ARGV[9] == '1', ARGV[10] == '1'
local stop = open_room() or replay()
if stop then return stop end
-- The room was cleared after the events were read: they tell of people whom it no longer knows.
if tonumber(ARGV[11]) ~= R.epoch then told = '' end
local named = told == 'turn' or told == 'there'

local function score(key)
  return tonumber(redis.call('ZSCORE', key, id) or 0)
end

-- The latest place that is known, 0 = none. One step behind the place that was ended, so that a process that remembers
-- the ending does not end this one (see end_again). A place they were dropped from has no ending.
local function known_place()
  local moved = tonumber(string.match(redis.call('HGET', K.moved, id) or '', ':(%d+)$') or 0)
  local ended = max(moved, tonumber(string.match(claim, '^%d+') or 0))
  local gone, dropped = score(K.gone), score(K.swept)
  -- A kick also notes people who never were here, as if last in line. That place is theirs only if something else
  -- proves that they were here, and once it was called, events must.
  if gone > R.watermark and (ended > 0 or named or not is_stranger(id, gone)) then ended = max(ended, gone) end
  if dropped >= ended then return dropped end
  return ended + 1
end

-- Only events mention them: called from the head, or their note was removed when the watermark passed it. Notes may
-- also be removed because there are too many: then nobody knows how far in front they were.
local function had_turn()
  return told == 'turn' or (told == 'there' and redis.call('ZCARD', K.swept) < KEPT_SWEPT)
end

local state = locate(id)
local here = state == 'waiting' or state == 'called' or state == 'inside'
local old, was_banned = known_place(), was_kicked(id, FOREVER)
local known = old > 0 or named or was_kicked(id, 0) or state ~= nil
local word = (here and 'already_here') or (redis.call('HEXISTS', K.record, id) == 1 and 'kept_elsewhere')
  or (R.hidden and 'drawing') or (restoring() and 'restoring') -- people who are not back yet cannot be counted
  or (claim ~= '' and tonumber(string.match(claim, ':(%d+)$')) ~= R.epoch and 'cleared')
  or (was_banned and not lifts and 'still_banned')
  or (old == 0 and state == nil and told == '' and 'unread')
  or (not known and not forced and 'unknown_ticket')
-- A refusal is not remembered: it changed nothing, so a repeat may be judged again.
if word then return no_change(word, 'was', state or 'none') end

-- First write: everything is checked.
if state then take_out(id, state) end -- over, but not swept: they were called, so their turn had come
local place
if old > 0 then
  place = max(old, R.watermark + 1)
elseif state or had_turn() then
  place = max(R.watermark, R.forgotten) + 1 -- no further in front than `gone` can tell
end
-- A place that is older than a ticket may be would be swept at once.
if not place or (R.ttl and R.now - arrival(place) > R.ttl) then place = next_place() end
place = free_place(place)
wait_at(id, place) -- they have all of `presence_s` to look
stand_again(id, place)
forget_swept(id)
note_reinstated(id, place)
count('reinstated', 1)
event('reinstated', {id})
save(true)
local position = redis.call('ZRANK', K.waiting, id) + 1
return remember(reply('waiting', 'place', place, 'position', position, 'waiting', R.n_waiting,
  'endings', R.endings))
