-- poll: where is each ticket, and a heartbeat for waiting people. Admits and restores nobody, so it still runs when the
-- server's memory is full; 'absent' tells the caller to restore with join.
-- Needs: clock, deadlines, nowhere, opening, saving.
-- KEYS: as in _common.
-- ARGV: 6 the ids of all tickets, 16 characters each   7 their claims ('place:epoch'), by blanks
-- Returns: ok, waiting, restoring (1 = hidden because the line may lack people), positions of all tickets
--   (0 = hidden, -1 = not waiting), and others = {word, number, sid} of each that does not wait:
--   called enter-by | inside session end, sid |
--   absent, abandoned, passed, left, kicked, cleared, unknown, no_show, expired
local ids = ARGV[6]
local stop = open_room(POLL_TYPES)
if stop then return stop end

-- Everything below runs for every ticket of every poll, so it uses one command per waiting ticket, and returns flat
-- lists.
local positions, others, seens, s = {}, {}, {}, 0
-- Seconds, rounded up: nobody is absent too early, and a small number takes less memory per person.
local now_s = string.format('%.0f', math.ceil(R.now / 1000))
local sub, hidden = string.sub, R.hidden or restoring()

-- Claims stay one string until somebody is not waiting: splitting them costs as much as a poll.
local claims
local function claim_of(n)
  if not claims then
    claims = {}
    for claim in string.gmatch(ARGV[7], '[^ ]+') do claims[#claims + 1] = claim end
  end
  return claims[n]
end

-- Called, inside or gone. This does not end what is over: poll writes only heartbeats, advance sweeps.
local function elsewhere(n, id)
  local state, score = locate(id)
  local word, number, sid = state, 0, 0
  if state == 'called' then
    number = wall(enter_by(score))
  elseif state == 'inside' then
    number, sid = wall(score), tonumber(redis.call('HGET', K.sids, id) or 0)
  else
    word = state or judge_absent(id, claim_of(n))
  end
  local o = #others
  others[o + 1], others[o + 2], others[o + 3] = word, number, sid
end

for n = 1, #ids / 16 do
  local id = sub(ids, 16 * n - 15, 16 * n)
  local rank = redis.call('ZRANK', K.waiting, id)
  if rank then
    positions[n] = hidden and 0 or rank + 1
    seens[s + 1], seens[s + 2], s = id, now_s, s + 2
  else
    positions[n] = -1
    elsewhere(n, id)
  end
end
-- First write: everything is checked.
note_visit()
if s > 0 then redis.call('HSET', K.seen, unpack(seens)) end
save(false)
return reply('ok', 'waiting', R.n_waiting, 'restoring', restoring() and 1 or 0, 'positions', positions,
  'others', others)
