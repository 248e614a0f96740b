-- Gates' claims about who somebody is: each counts once, and for an account without a ticket.
--
-- The first one binds the room to the salt of its accounts, until `clear`. Gates whose keys have another salt would
-- give every user a second account, and a second place.
-- Needs: nothing.

local CALLS = 2097152 -- 2^21: a score is when a claim expires, in s, times this, plus a random number of the call
local STRANGER = '?' -- instead of a use: whoever shows nothing
local FORGET = 100 -- expired claims that a call forgets, besides as many as it uses

local spent, newly_spent, any_swept, salt_before, salt = {}, {}, nil, nil, nil

-- The nonce of a claim, the score of its use, and the salt of its account (see accounts.py).
local function parts_of_use(use)
  local nonce, score, its_salt = string.match(use, '^(%S+) (%d+) ?(%S*)$')
  return nonce, tonumber(score), its_salt
end

-- Read which claims were used before, in one command: every `step`-th of ARGV from `first` on is a use, or '' or '?'.
local function read_uses(first, step)
  local nonces = {}
  for i = first, #ARGV, step do
    if #ARGV[i] > 1 then nonces[#nonces + 1] = parts_of_use(ARGV[i]) end
  end
  if #nonces == 0 then return end
  local scores = redis.call('ZMSCORE', K.claims, unpack(nonces))
  for n, nonce in ipairs(nonces) do spent[nonce] = tonumber(scores[n] or nil) end
  salt_before = redis.call('HGET', K.meta, 'salt') or ''
  salt = salt_before
end

-- What 'place:epoch' of a ticket would be for an account that shows none: it may have been dropped for silence on
-- another device, and may come back to that place on this one.
local function dropped_claim(id)
  if any_swept == nil then any_swept = redis.call('EXISTS', K.swept) == 1 end
  local place = any_swept and redis.call('ZSCORE', K.swept, id)
  return place and string.format('%.0f:%.0f', tonumber(place), R.epoch) or ''
end

-- Use a gate's claim, if there is one. Returns the claim to a place: the ticket's, or the account's own; or nil and why
-- the gate's does not count. A call that is repeated because its reply was lost has the same score, and may.
local function accept_claim(use, id, claim)
  if #use < 2 then return claim end
  local nonce, score, its_salt = parts_of_use(use)
  if salt ~= '' and salt ~= its_salt then return nil, 'other_accounts' end
  if (spent[nonce] or score) ~= score then return nil, 'claim_used' end
  spent[nonce], salt = score, its_salt
  newly_spent[#newly_spent + 1], newly_spent[#newly_spent + 2] = score, nonce
  return claim == '' and dropped_claim(id) or claim
end

-- Remember the claims that were used until they have expired, by the server's clock, and forget some that have.
local function save_uses()
  if #newly_spent == 0 then return end
  redis.call('ZADD', K.claims, unpack(newly_spent))
  redis.call('EXPIRE', K.claims, 120)
  if salt ~= salt_before then redis.call('HSET', K.meta, 'salt', salt) end
  local now = string.format('(%.0f', floor(R.raw_ms / 1000) * CALLS)
  local over = redis.call('ZRANGEBYSCORE', K.claims, '-inf', now, 'LIMIT', 0, FORGET + #newly_spent)
  if #over > 0 then redis.call('ZREM', K.claims, unpack(over)) end
end
