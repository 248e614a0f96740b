-- poll: where is each ticket, and a heartbeat for those who wait. Admits and restores nobody, so it
-- goes on when the server's memory is full; 'absent' tells the caller to restore with join.
-- KEYS: as in _common.
-- ARGV: for each ticket: 6.. id, claim ('place:epoch' of its ticket)
-- Returns: ok, waiting, tickets = {word, number, sid} of each ticket:
--   waiting position (0 = hidden) | called enter-by | inside session end, sid |
--   absent, passed, left, cleared, unknown, no_show, expired
local stop = open_room()
if stop then return stop end

local out, seens, n, s = {}, {}, 0, 0
local now_s = math.ceil(R.now / 1000)
for i = 6, #ARGV, 2 do
  local id = ARGV[i]
  local rank = redis.call('ZRANK', K.waiting, id)
  local word, number, sid = 'waiting', 0, 0
  if rank then
    if not R.draws then number = rank + 1 end
    seens[s + 1], seens[s + 2], s = id, now_s, s + 2
  else
    local state, score = locate(id)
    if state == 'called' then
      word, number = state, wall(enter_by(score))
    elseif state == 'inside' then
      word, number, sid = state, wall(score), tonumber(redis.call('HGET', K.sids, id) or 0)
    else
      word = state or judge_absent(id, ARGV[i + 1])
    end
  end
  out[n + 1], out[n + 2], out[n + 3], n = word, number, sid, n + 3
end
if s > 0 then redis.call('HSET', K.seen, unpack(seens)) end
save(false)
return reply('ok', 'waiting', R.n_waiting, 'tickets', out)
