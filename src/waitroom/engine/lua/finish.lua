-- finish: end a session before its time and give its place to the next one in the same call.
-- KEYS: as in _common, with 15 op.
-- ARGV: 6 id   7 sid, or '' = whichever it has
-- Returns: finished (called) | session_over (called)
local id, sid = ARGV[6], ARGV[7]
local stop = open_room() or replay()
if stop then return stop end

local state = locate(id)
local mine = sid == '' or sid == redis.call('HGET', K.sids, id)
local word = 'session_over'
if state == 'inside' and mine then
  take_out(id, 'finished')
  word = 'finished'
elseif state == 'expired' and mine then
  take_out(id, 'expired')
elseif sid ~= '' and redis.call('ZSCORE', K.done, sid) then
  word = 'finished' -- before, by somebody else
end
local called = admission(100)
save(true)
return remember(reply(word, 'called', called), 60000)
