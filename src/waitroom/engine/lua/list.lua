-- list: a page of tickets in one state, for operators.
-- Needs: deadlines, opening.
-- KEYS: as in _common.
-- ARGV: 6 state   7 cursor ('' = from the start)   8 most lines   9 arrived at or after, us
--       10 arrived at or before, us (waiting only; '' = any)   11.. ids (only these; the cursor counts for nothing)
-- Returns: ok (after = next cursor or '', ordered = 0 if the order is hidden, tickets = {id, place (0 = hidden),
--   seen ms, until ms, sid} each) | drawing (no ages before the opening of a draw)
local state, cursor, most = ARGV[6], ARGV[7], min(tonumber(ARGV[8]), LIMIT)
-- Reads only: it learns nothing from the caller, and `alive_at` stays, so an operator's look is no sign of life.
local stop = open_room(nil, true)
if stop then return stop end

local out, after = {}, ''
local hidden = state == 'waiting' and R.hidden
-- Five values per ticket, flat: a table for each would cost more to build and to parse.
local function line(id, place, seen_ms, until_ms, sid)
  local n = #out
  out[n + 1], out[n + 2], out[n + 3], out[n + 4], out[n + 5] = id, place, seen_ms, until_ms, sid
end

-- The last poll of waiting people, the session id of people inside: one HMGET per page.
local function sides(page)
  local ids = {}
  for i = 1, #page, 2 do ids[#ids + 1] = page[i] end
  local key = state == 'waiting' and K.seen or K.sids
  return #ids > 0 and redis.call('HMGET', key, unpack(ids)) or {}
end

-- Tickets between two ages, in their order. A drawn place is not a time: whoever drew arrived with the opening.
local function in_order()
  local from, to, opening = tonumber(ARGV[9]), tonumber(ARGV[10]), R.draw_until * 1000
  local low, high = ARGV[9] ~= '' and ARGV[9] or '-inf', ARGV[10] ~= '' and ARGV[10] or '+inf'
  if to and to < opening then
    if not from or from <= R.draw_top then low = '(' .. string.format('%.0f', R.draw_top) end
  elseif from and from <= opening then
    low = '-inf'
  end
  -- Places are unique, so they are the cursor; a cursor with '~' is from `by_id`, and the list starts again.
  if string.match(cursor, '^%d+$') then low = '(' .. cursor end
  local page = redis.call('ZRANGEBYSCORE', K.waiting, low, high, 'WITHSCORES', 'LIMIT', 0, most)
  if #page == 2 * most then after = page[#page] end
  return page
end

-- While the order is hidden nothing here may follow it. SCAN goes by the server's own hash of the ids, but by place for
-- a small set. So each page is sorted by id, and a bucket of ids that is larger than a page is cut by id. The cursor is
-- SCAN's, '~', and the last id of a bucket that was cut. Somebody may be listed twice.
local function by_id()
  local at, past = string.match(cursor, '^(%d+)~(.*)$')
  local ids = {}
  at, past = at or '0', past or ''
  -- COUNT 1 bounds a step: one bucket of the set, or nobody after ten empty buckets.
  for _ = 1, 2 * LIMIT do
    local step, bucket = redis.call('ZSCAN', K.waiting, at, 'COUNT', 1), {}
    for i = 1, #step[2], 2 do
      if step[2][i] > past then bucket[#bucket + 1] = step[2][i] end
    end
    table.sort(bucket)
    local space = most - #ids
    if #bucket > space and #ids > 0 then break end
    for i = 1, min(#bucket, space) do ids[#ids + 1] = bucket[i] end
    if #bucket > space then
      past = ids[#ids]
      break
    end
    at, past = step[1], ''
    if at == '0' or #ids == most then break end
  end
  after = (at == '0' and past == '') and '' or at .. '~' .. past
  table.sort(ids)
  local page = {}
  for i, id in ipairs(ids) do page[2 * i - 1], page[2 * i] = id, 0 end
  return page
end

-- The given ids that are in this state.
local function by_name()
  local page = {}
  for i = 11, min(#ARGV, 10 + most) do
    local score = redis.call('ZSCORE', K[state], ARGV[i])
    if score then
      page[#page + 1] = ARGV[i]
      page[#page + 1] = hidden and 0 or score
    end
  end
  return page
end

if state == 'waiting' then
  if hidden and (ARGV[9] ~= '' or ARGV[10] ~= '') then return reply('drawing') end
  local page = #ARGV > 10 and by_name() or hidden and by_id() or in_order()
  local polls = sides(page)
  for i = 1, #page, 2 do
    local polled = tonumber(polls[(i + 1) / 2] or 0) * 1000
    line(page[i], tonumber(page[i + 1]), max(polled - R.offset_ms, 0), 0, 0)
  end
else -- many share a deadline, so the cursor is a rank: whoever goes meanwhile may hide somebody from a page
  local from = tonumber(cursor) or 0
  local page = #ARGV > 10 and by_name() or redis.call('ZRANGE', K[state], from, from + most - 1, 'WITHSCORES')
  local ids = state == 'inside' and sides(page) or {}
  for i = 1, #page, 2 do
    local score = tonumber(page[i + 1])
    -- Turns that are over but not swept are listed too, with the enter-by that people were told.
    local shown = wall(state == 'called' and enter_by(score) or score)
    line(page[i], 0, 0, shown, tonumber(ids[(i + 1) / 2] or 0))
  end
  if #page == 2 * most and #ARGV == 10 then after = tostring(from + most) end
end
return reply('ok', 'after', after, 'ordered', hidden and 0 or 1, 'tickets', out)
