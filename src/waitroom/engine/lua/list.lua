-- list: a page of tickets in one state, for operators.
-- KEYS: as in _common.
-- ARGV: 6 state   7 cursor ('' = from the start)   8 most lines   9 arrived at or after, us
--       10 arrived at or before, us (waiting only; '' = any)
-- Returns: ok (after = next cursor or '', tickets = {id, place, seen ms, until ms, sid} each)
local state, cursor, most = ARGV[6], ARGV[7], min(tonumber(ARGV[8]), LIMIT)
-- Reads only: nothing is learnt from the caller, and `alive_at` stays, so an operator's look is no sign of life.
local stop = open_room(nil, true)
if stop then return stop end

local out, after = {}, ''
-- Five values per ticket, flat: a table for each would cost more to build and to parse.
local function line(id, place, seen_ms, until_ms, sid)
  local n = #out
  out[n + 1], out[n + 2], out[n + 3], out[n + 4], out[n + 5] = id, place, seen_ms, until_ms, sid
end

-- The last poll of who waits, the session id of who is inside: one HMGET per page.
local function sides(page)
  local ids = {}
  for i = 1, #page, 2 do ids[#ids + 1] = page[i] end
  local key = state == 'waiting' and K.seen or K.sids
  return #ids > 0 and redis.call('HMGET', key, unpack(ids)) or {}
end

if state == 'waiting' then -- places are unique, so they are the cursor
  local low = cursor ~= '' and '(' .. cursor or (ARGV[9] ~= '' and ARGV[9] or '-inf')
  local high = ARGV[10] ~= '' and ARGV[10] or '+inf'
  local page = redis.call('ZRANGEBYSCORE', K.waiting, low, high, 'WITHSCORES', 'LIMIT', 0, most)
  local polls = sides(page)
  for i = 1, #page, 2 do
    local polled = tonumber(polls[(i + 1) / 2] or 0) * 1000
    line(page[i], tonumber(page[i + 1]), max(polled - R.offset_ms, 0), 0, 0)
  end
  if #page == 2 * most then after = page[#page] end
else -- deadlines are shared by many, so the cursor is a rank: who goes meanwhile may hide somebody from a page
  local from = tonumber(cursor) or 0
  local page = redis.call('ZRANGE', K[state], from, from + most - 1, 'WITHSCORES')
  local ids = state == 'inside' and sides(page) or {}
  for i = 1, #page, 2 do
    local score = tonumber(page[i + 1])
    -- Turns that are over but not swept are listed too, with the enter-by that they were told.
    local shown = wall(state == 'called' and enter_by(score) or score)
    line(page[i], 0, 0, shown, tonumber(ids[(i + 1) / 2] or 0))
  end
  if #page == 2 * most then after = tostring(from + most) end
end
return reply('ok', 'after', after, 'tickets', out)
