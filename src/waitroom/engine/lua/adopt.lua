-- adopt: somebody with a ticket has signed in. Of the ticket's place and the account's, the earlier one becomes the
-- account's, and the other goes: no account has two.
-- Needs: admission, claims, clock, code_returns, deadlines, endings, events, gone, line, nowhere, opening, returns,
--   saving, standing, whereabouts.
-- KEYS: as in _common.
-- ARGV: 6 id of the account   7 id of the ticket   8 claim ('place:epoch' of the ticket)
--       9 use of the gate's claim (see parts/claims)
-- Returns: ok, waiting, restoring (1 = hidden because the line may lack people), tickets = {word, place, number, sid,
--   new} of the account: waiting position (0 = hidden) | called enter-by | inside session end, sid;
--   code = the entry code that it holds, or ''
--   | nothing (neither has a place; let the account join) | claim_used, other_accounts | banned | entered_before
--   | kept_elsewhere
local account, id, claim, use = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local stop = open_room()
if stop then return stop end

local RANKS = {waiting = 1, absent = 1, called = 2, inside = 3} -- who is further has been there for longer

-- Where an id is, or 'absent' with the place that it could come back to.
local function find(who, proof)
  local state, score = locate(who)
  if state then return state, score end
  local word, place = judge_absent(who, proof)
  if word == 'absent' then return word, place end
end

local its, its_score = find(id, claim)
local mine, my_score = find(account, dropped_claim(account))
local my_rank, its_rank = RANKS[mine] or 0, RANKS[its] or 0
if my_rank + its_rank == 0 then return no_change('nothing') end
read_uses(9, 1)
local _, refused = accept_claim(use, account, claim)
local word = refused
  or (redis.call('HEXISTS', K.record, id) + redis.call('HEXISTS', K.record, account) > 0 and 'kept_elsewhere')
  or (my_rank == 0 and was_kicked(account, FOREVER) and 'banned')
  or (my_rank == 0 and R.once and redis.call('SISMEMBER', K.been, account) == 1 and 'entered_before')
if word then return no_change(word) end
-- In a draw that is still hidden nobody is earlier: otherwise many tickets would draw the best lot for one account.
local takes = its_rank > my_rank or (its_rank == 1 and my_rank == 1 and not R.hidden and its_score < my_score)

-- The place that the account had goes. Tickets of it on other devices are worthless from now on.
local function give_up_own()
  if mine == 'waiting' then drop_waiting({account}) end
  if mine == 'waiting' or mine == 'absent' then note_gone(my_score, account) end
  forget_swept(account)
  give_back(account)
  if mine == 'called' then
    redis.call('ZREM', K.called, account)
    if R.n_called then R.n_called = R.n_called - 1 end
  end
  redis.call('ZREM', K.kicked, account)
  count(my_rank == 0 and 'joined' or 'restored', (my_rank == 0 or mine == 'absent') and 1 or 0)
end

-- The turn, session or place of the ticket becomes the account's, with its deadline; a session stays the same one.
local function take_over()
  local place = its_rank == 1 and its_score or tonumber(redis.call('ZSCORE', K.gone, id) or 0)
  local moved = redis.call('HGET', K.moved, id)
  redis.call('HDEL', K.moved, id, account)
  if its == 'called' then
    redis.call('ZREM', K.called, id)
    redis.call('ZADD', K.called, its_score, account)
  elseif its == 'inside' then
    redis.call('ZREM', K.inside, id)
    redis.call('ZADD', K.inside, its_score, account)
    redis.call('HSET', K.sids, account, redis.call('HGET', K.sids, id) or '0')
    redis.call('HDEL', K.sids, id)
    if R.once then redis.call('SADD', K.been, account) end
  else
    if its == 'waiting' then drop_waiting({id}) end
    forget_swept(id)
    note_gone(place, id)
    stand(account, place)
    hand_over_code(id, account)
    if moved then redis.call('HSET', K.moved, account, moved) end -- how often it was deferred
    -- `gone` knows a later place, which the account gave up or left from: it keeps nobody out of this one.
    local left = tonumber(redis.call('ZSCORE', K.gone, account) or 0)
    if left >= place then redis.call('HSET', K.moved, account .. ';', string.format('0:%.0f', left)) end
    count('restored', its == 'absent' and 1 or 0)
  end
  note_ending(id, 'left', place, '0', 0)
  count('left', 1)
  event('adopted', {account}, 'from', id, 'was', its)
  event('ended', {id}, 'reason', 'left')
end

-- First write: everything is checked.
save_uses()
note_visit()
if mine == 'no_show' or mine == 'expired' then take_out(account, mine) end -- over, but not swept
if takes then
  give_up_own()
  take_over()
else
  take_out(id, 'left', claim)
  if mine == 'absent' then
    stand(account, my_score)
    count('restored', 1)
  end
end
admission(100) -- a turn or a session may be free; 100 as in leave
local state, score = locate(account)
if state == 'waiting' then redis.call('HSET', K.seen, account, math.ceil(R.now / 1000)) end
local place, number, sid = whereabouts(account, state, score)
save(false)
return reply('ok', 'waiting', R.n_waiting, 'restoring', restoring() and 1 or 0, 'tickets',
  {state, place, number, sid, 0}, 'code', redis.call('HGET', K.coded, account) or '', 'endings', R.endings or {})
