-- join: give newcomers a place and others the place they have, and call at once if nobody waits and the policy has
-- room. With 'restore' it only puts people back where they were.
-- Needs: budget, calling, claims, clock, codes, deadlines, endings, line, nowhere, opening, places, returns, saving,
--   sessions, sources, standing, whereabouts.
-- KEYS: as in _common.
-- ARGV: 6 '1' = restore only   7 new places per minute and source, 0 = any; then for each ticket:
--       id, claim ('place:epoch' of its ticket, or ''), draw (0 .. 2^52 - 1, '' = the caller knows of no draw),
--       enter ('1' = go inside at once if called at once), source (see parts/sources, '' = not counted),
--       code (see parts/codes, '' = none), use (of a gate's claim, see parts/claims, '' = nobody claims to be this
--       account, '?' = nobody does, and the site does not know them either)
-- Returns: ok, waiting, restoring (1 = hidden because the line may lack people), and tickets =
--   {word, place, number, sid, new} of each ticket:
--   waiting position (0 = hidden) | called enter-by | inside session end, sid |
--   abandoned, passed, left, kicked, cleared, unknown | room_full, room_closed, room_ended, room_not_open, banned,
--   entered_before, identity_required, claim_used, other_accounts, code_required, code_used, code_revoked |
--   limited ms to wait, 1 = surely so long
--   or redraw: nothing was done, the caller drew by an old policy or epoch
local restore_only = ARGV[6] == '1'
local stop = open_room()
if stop then return stop end

-- Places are drawn from a keyed hash of epoch and ticket, which Python makes. A process that does not know of the draw
-- or the epoch asks again, so that everybody's place is drawn once and by one rule.
local knows_draw = ARGV[10] ~= '' and tonumber(ARGV[2]) == R.epoch
if R.draws and not restore_only and not knows_draw then return reply('redraw') end

read_codes(13, 7)
local out, adds, seens, added = {}, {}, {}, {}
local now_s, hidden = math.ceil(R.now / 1000), R.hidden or restoring()
read_uses(14, 7)
local any_kicked = redis.call('EXISTS', K.kicked) == 1 -- in most rooms nobody was, and newcomers cost no extra command

local function answer(word, place, number, sid, new)
  local n = #out
  out[n + 1], out[n + 2], out[n + 3], out[n + 4], out[n + 5] = word, place, number, sid, new
end

-- Joining again is no way to move: it answers where they are, and counts as a heartbeat.
local function is_here(id, state, score)
  if state == 'waiting' then seens[#seens + 1], seens[#seens + 2] = id, now_s end
  local place, number, sid = whereabouts(id, state, score)
  answer(state, place, number, sid, 0)
end

-- Back into the place that the ticket proves, even if a loss has forgotten it. No limit applies: they had the place.
local function restore(id, place, code)
  take_code(id, code)
  count('restored', 1)
  answer('waiting', stand(id, place), told_position(id), 0, 0)
end

-- Written to `waiting` after the loop, all in one command, except draws. Until then `added` holds them.
local function newcomer(id, draw, enters, source, code, use)
  local why = (any_kicked and was_kicked(id, FOREVER) and 'banned')
    or (R.once and redis.call('SISMEMBER', K.been, id) == 1 and 'entered_before')
    or R.refuses or (use == STRANGER and R.p.needs == 'identity' and 'identity_required') or judge_code(id, code)
  if why then return answer(why, 0, 0, 0, 0) end
  -- Straight in only if nobody waits: a newcomer never overtakes. Then the queue limit does not matter either.
  local direct = R.n_waiting == 0 and budget(true) > 0
  if not direct and R.queue_limit and R.n_waiting >= R.queue_limit then return answer('room_full', 0, 0, 0, 0) end
  local wait, sure = charge(source)
  if wait then return answer('limited', 0, wait, sure, 0) end
  count('joined', 1)
  local place = R.draws and drawn_place(draw) or next_place()
  if any_kicked then redis.call('ZREM', K.kicked, id) end
  begin_anew(id, place)
  take_code(id, code, direct)
  if direct then
    local until_ms = mark_called({id}, {place})
    raise_watermark(place) -- as if called from the head: this place will not come back
    count_pace(1)
    if not enters then return answer('called', place, wall(until_ms), 0, 1) end
    local ends, sid = go_inside({id})
    return answer('inside', place, wall(ends), sid, 1)
  end
  R.n_waiting = R.n_waiting + 1
  if R.draws then
    redis.call('ZADD', K.waiting, place, id) -- at once: the next draw must see this place as taken
  else
    adds[#adds + 1], adds[#adds + 2], added[id] = place, id, {place, R.n_waiting}
  end
  seens[#seens + 1], seens[#seens + 2] = id, now_s
  answer('waiting', place, hidden and 0 or R.n_waiting, 0, 1)
end

-- First write: everything is checked.
-- In the order given: people who came first in a batch stand first.
for i = 8, #ARGV, 7 do
  local id, draw, enters, code = ARGV[i], ARGV[i + 2], ARGV[i + 3] == '1', ARGV[i + 5]
  local claim, why = accept_claim(ARGV[i + 6], id, ARGV[i + 1])
  local state, score = locate(id)
  -- Over, but not swept: end it here, or the same id would be in two sets.
  if state == 'no_show' or state == 'expired' then
    take_out(id, state)
    state = nil
  end
  if not claim then
    answer(why, 0, 0, 0, 0)
  elseif added[id] then
    answer('waiting', added[id][1], hidden and 0 or added[id][2], 0, 0)
  elseif state then
    is_here(id, state, score)
  else
    local word, place = judge_absent(id, claim)
    -- Left, passed, cleared or without a ticket: whoever joins on purpose starts at the end.
    if word == 'absent' then
      restore(id, place, code)
    elseif restore_only then
      answer(word, 0, 0, 0, 0)
    else
      newcomer(id, draw, enters, ARGV[i + 4], code, ARGV[i + 6])
    end
  end
end
note_visit()
if #adds > 0 then redis.call('ZADD', K.waiting, unpack(adds)) end
if #seens > 0 then redis.call('HSET', K.seen, unpack(seens)) end
save_sources()
save_codes()
save_uses()
save(false)
return reply('ok', 'waiting', R.n_waiting, 'restoring', restoring() and 1 or 0, 'tickets', out)
