-- finish: end a session before its time and give its place to the next person in the same call.
-- Needs: admission, deadlines, endings, nowhere, opening, repeats, saving.
-- KEYS: as in _common, with 24 op.
-- ARGV: 6 id   7 sid, or '' = whichever it has
-- Returns: finished | session_over, session_kicked (called; endings: see note_ending)
local id, sid = ARGV[6], ARGV[7]
local stop = open_room() or replay()
if stop then return stop end

-- By session id, if one is given: a late finish of an earlier session must not end the current one.
local state = locate(id)
local mine = sid == '' or sid == redis.call('HGET', K.sids, id)
local word = was_kicked(id) and 'session_kicked' or 'session_over'

-- First write: everything is checked.
if state == 'inside' and mine then
  take_out(id, 'finished')
  word = 'finished'
elseif state == 'expired' and mine then
  take_out(id, 'expired')
elseif sid ~= '' and redis.call('ZSCORE', K.done, sid) then
  word = 'finished' -- somebody else finished it before
end
-- 100 at most: a visitor's call should not pay for a whole step of housekeeping. The ticker does the rest.
local called = admission(100)
save(false)
-- One minute: a client's retry repeats this, not an operator.
return remember(reply(word, 'called', called, 'endings', R.endings or {}), 60000)
