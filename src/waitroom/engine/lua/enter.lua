-- enter: called tickets go inside; when asked again, each answers the same session.
-- Needs: admission, deadlines, endings, line, nowhere, opening, saving, sessions, window.
-- KEYS: as in _common.
-- ARGV: for each ticket: id, claim ('place:epoch' of its ticket)
-- Returns: ok, tickets = {word, number, sid, new} of each ticket, at most 400:
--   inside session end, sid | enter_later at | waiting position (0 = hidden) |
--   no_show, expired, absent, abandoned, passed, left, kicked, cleared, unknown
local stop = open_room()
if stop then return stop end

local out, goes, slots, gone, changed = {}, {}, {}, false, false
-- Of the 500 people that one call may move, these come first; with at most 400 tickets some are left for admission.
local spare = LIMIT - (#ARGV - 5) / 2

local function answer(word, number, sid)
  local n = #out
  out[n + 1], out[n + 2], out[n + 3], out[n + 4] = word, number, sid, 0
end

-- The limit may have been lowered since this ticket was called: it keeps its turn, and waits.
local function too_many()
  return R.max_entries and not R.bypass and entries_in_window() + #goes >= R.max_entries
end

-- They are told when to come again, and their turn lasts until then: the limit must not cost them their turn.
local function later(id)
  local at = window_frees_at()
  redis.call('ZADD', K.called, 'XX', 'GT', at + (R.enter_within or 0), id)
  answer('enter_later', wall(at), 0)
  changed = true
end

-- Not called: already inside (a repeat), still waiting, or over. An ending frees a place, so admission follows.
local function elsewhere(id, claim, state, score)
  if state == 'inside' then
    answer('inside', wall(score), tonumber(redis.call('HGET', K.sids, id) or 0))
  elseif state == 'waiting' then
    answer('waiting', told_position(id), 0)
  else
    if state then take_out(id, state) end
    gone, changed = true, changed or state ~= nil
    answer(state or judge_absent(id, claim), 0, 0)
  end
end

-- First write: everything is checked.
if R.bypass then admission(spare) end -- people in front first, and then perhaps these
-- Two tabs may ask for the same ticket in one batch: both get one session, and only the first is new.
local twice = {}
for i = 6, #ARGV, 2 do
  local id = ARGV[i]
  local state, score = locate(id)
  if state ~= 'called' then
    elsewhere(id, ARGV[i + 1], state, score)
  elseif twice[id] then
    slots[#slots + 1] = {#out, twice[id], 0}
    answer('inside', 0, 0)
  elseif too_many() then
    later(id)
  else
    goes[#goes + 1], twice[id] = id, #goes + 1
    slots[#slots + 1] = {#out, #goes, 1}
    answer('inside', 0, 0)
  end
end
-- All at once, after the loop: session ids are consecutive, and the answers are filled in by their slots.
if #goes > 0 then
  local ends, first_sid = go_inside(goes)
  for _, slot in ipairs(slots) do
    local n = slot[1]
    out[n + 2], out[n + 3], out[n + 4] = wall(ends), first_sid + slot[2] - 1, slot[3]
  end
end
-- A turn that was used or lost makes room for the next call; in bypass the admission came first.
if not R.bypass and (gone or #goes > 0) then admission(min(100, spare)) end
save(changed or #goes > 0)
return reply('ok', 'tickets', out)
