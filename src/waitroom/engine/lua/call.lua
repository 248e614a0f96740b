-- call: call one ticket by hand, wherever it stands in the line.
-- Needs: budget, calling, deadlines, gone, line, opening, repeats, saving.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 id   7 '1' = forced
-- Returns: called (until) | not_waiting (was) | holding (until) | room_paused | no_capacity
-- Unlike admit, it takes somebody out of the middle of the line: people in front keep their places and turns.
local id, forced = ARGV[6], ARGV[7] == '1'
local stop = open_room() or replay()
if stop then return stop end

local state, place = locate(id)
local word
if state == 'called' then
  -- Already called, by anybody: the same answer, and no second turn. For a called ticket `place` is its enter-by.
  return no_change('called', 'until', wall(enter_by(place)))
elseif state ~= 'waiting' then
  word = 'not_waiting'
elseif not forced and R.hold_until > R.now and not R.bypass then
  word = 'holding'
elseif not forced and not R.by_hand and not R.bypass then
  word = 'room_paused'
elseif not forced and budget(false, true) == 0 then
  word = 'no_capacity'
end
if word then return no_change(word, 'was', state or 'none', 'until', wall(R.hold_until)) end

-- First write: everything is checked.
drop_waiting({id})
redis.call('HDEL', K.moved, id)
-- Not from the head, so the watermark stays; `gone` keeps a stray poll from restoring the place.
note_gone(place, id)
local until_ms = mark_called({id}, {place})
save(true)
return remember(reply('called', 'until', wall(until_ms)))
