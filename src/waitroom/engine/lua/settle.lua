-- settle: bring tickets to the state given by a record elsewhere (a desk's database), unless a later revision of the
-- ticket came first: what comes late, or twice, changes nothing.
-- Needs: calling, deadlines, events, line, opening, places, returns, saving.
-- KEYS: as in _common.
-- ARGV: 6 '1' = whatever was here before   7 what the record says of the turnover, '' = as before;
--       then for each ticket: id, state (waiting, called, or why it is gone: finished, left,
--       no_show), place, revision
-- Returns: ok (settled = how many changed, late, waiting); no ticket is named twice in one call
local forced, turnover = ARGV[6] == '1', ARGV[7]
local stop = open_room()
if stop then return stop end

-- The revision of a gone ticket is known for a day. The desk's repair fixes anything that comes even later.
local KEPT_S = 86400
local now_s = math.ceil(R.now / 1000)
-- `news`: the record said something, even if nobody moved. A call without tickets is news by itself.
local settled, late, news, placed, called, places = 0, 0, #ARGV < 8, {}, {}, {}
local ended = {finished = {}, left = {}, no_show = {}}

-- Take a ticket from where it is; what it has there is over, whoever still holds a pass.
local function take_back(id, state, score)
  if state == 'waiting' then
    drop_waiting({id})
  elseif state == 'called' or state == 'no_show' then
    redis.call('ZREM', K.called, id)
  elseif state then
    local sid = redis.call('HGET', K.sids, id)
    if sid and state == 'inside' then redis.call('ZADD', K.done, min(score, R.now + SESSION_KEPT_MS), sid) end
    redis.call('ZREM', K.inside, id)
    redis.call('HDEL', K.sids, id)
  end
end

-- Wait at the record's place, wherever they were. No limit applies: the record has decided.
local function stand(id, state, score, place, known)
  if state ~= 'waiting' then
    take_back(id, state, score)
    count((state or known) and 'restored' or 'joined', 1)
    R.n_waiting = R.n_waiting + 1
  end
  redis.call('ZADD', K.waiting, place, id)
  redis.call('HSET', K.seen, id, now_s)
  redis.call('ZREM', K.gone, id)
  -- Used defers stay used; the place in `moved` must not overrule the record's.
  local defers = string.match(redis.call('HGET', K.moved, id) or '', '^%d+')
  if defers then redis.call('HSET', K.moved, id, string.format('%s:%.0f', defers, place)) end
  note_place(place)
  placed[#placed + 1] = id
end

-- Be called. All people of one call together after the loop, so that they share one deadline and one event.
local function turn(id, state, score, place, known)
  take_back(id, state, score)
  redis.call('HDEL', K.moved, id)
  if not state then count(known and 'restored' or 'joined', 1) end
  called[#called + 1], places[#places + 1] = id, place
end

-- Be gone, for a reason from the record. The event follows after the loop, one for each reason.
local function go(id, state, score, reason)
  -- Seated straight from the line: the line moved as if they had been called.
  if reason == 'finished' and state == 'waiting' then count('called_total', 1) end
  take_back(id, state, score)
  redis.call('HDEL', K.moved, id)
  count(reason, 1)
  ended[reason][#ended[reason] + 1] = id
end

-- Remove revisions of people long gone, some at each call.
local function prune()
  local some = redis.call('HRANDFIELD', K.record, 10, 'WITHVALUES')
  for i = 1, #some, 2 do
    local since = tonumber(string.match(some[i + 1], ':(%d+)$'))
    if since and now_s - since > KEPT_S then
      redis.call('HDEL', K.record, some[i])
    end
  end
end

-- First write: everything is checked.
for i = 8, #ARGV, 4 do
  local id, want, place, revision = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local known = tonumber(string.match(redis.call('HGET', K.record, id) or '', '^%d+'))
  if known and known > revision and not forced then
    late = late + 1
  else
    -- The same revision again is settled again: it costs little, and repair brings back lost tickets that way.
    local state, score = locate(id)
    local here = want == 'waiting' or want == 'called'
    if known ~= revision then
      redis.call('HSET', K.record, id, string.format(here and '%.0f' or '%.0f:%.0f', revision, now_s))
      news = true
    end
    if not state then forget_swept(id) end
    local moves = state
    if here then moves = state ~= want or (want == 'waiting' and score ~= place) end
    if want == 'waiting' and moves then stand(id, state, score, place, known) end
    if want == 'called' and moves then turn(id, state, score, place, known) end
    if not here and moves then go(id, state, score, want) end
    if moves then settled = settled + 1 end
  end
end
-- Events after the loop: watchers read about each ticket once, with the room as it is then.
if #placed > 0 then event('placed', placed) end
if #called > 0 then mark_called(called, places) end
for reason, ids in pairs(ended) do
  if #ids > 0 then event('ended', ids, 'reason', reason) end
end
-- Written only if it differs, so that repeating a turnover wakes nobody.
local new_turnover = turnover ~= '' and turnover ~= redis.call('HGET', K.meta, 'turnover')
if new_turnover then redis.call('HSET', K.meta, 'turnover', turnover) end
prune()
-- Watchers of the room look again, also for changes that only the record has.
save(news or settled > 0 or new_turnover)
return reply('ok', 'settled', settled, 'late', late, 'waiting', R.n_waiting)
