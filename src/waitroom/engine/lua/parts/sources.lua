-- How often people may join from one network: a token bucket per source, shared by all processes.
--
-- `sources` holds, for each bucket, when it is full again. A full bucket need not be stored, so a network from which
-- somebody comes now and then costs nothing: at 600 tokens a minute, one is back after 0.1 s.
--
-- A source is 'name', or 'name:own:around' for a narrow door: so many places a minute for the network, and for the
-- one around it, beside the limit that all doors share.
-- Needs: nothing.

local MINUTE_MS = 60000
local SLACK_MS = 0.5 -- sums of fractions are not exact
local MOST_SOURCES = 10000 -- buckets of single networks in use, about 1 MB; beyond that wider networks count
local WIDER = 16 -- this many times the limit may join from a wider network
local NAME = 12 -- letters of a source's name. Two more name the network around it, so there are at most 4096 of those
local NARROW = '~' -- before the names of buckets of a narrow door; no letter of a source's name
local KEPT_FULL = 500 -- full buckets that may stay: if few people come, it costs more to remove them

local sources, charged, per_minute, crowded = {}, {}, tonumber(ARGV[7]), nil

local function full_at(name)
  sources[name] = sources[name] or tonumber(redis.call('ZSCORE', K.sources, name) or 0)
  return sources[name]
end

-- Whether no more networks get their own bucket. Counts buckets in use: full ones may not be removed yet.
local function is_crowded()
  if crowded == nil then
    crowded = redis.call('ZCARD', K.sources) >= MOST_SOURCES
      and redis.call('ZCOUNT', K.sources, '(' .. string.format('%.0f', R.now), '+inf') >= MOST_SOURCES
  end
  return crowded
end

-- When a bucket is full again if a token is taken now; and how many ms until there is one, if there is none.
local function after_token(name, most)
  local step = MINUTE_MS / most
  -- A bucket is full after a minute at the latest, whatever the clock did.
  local at = min(max(full_at(name), R.now), R.now + MINUTE_MS + step) + step
  local wait = at - R.now - MINUTE_MS
  return at, wait > SLACK_MS and math.ceil(wait) or nil
end

-- Take a token. Returns nil, or how many ms until there is one.
local function take_token(name, most)
  local at, wait = after_token(name, most)
  if wait then return wait end
  sources[name], charged[name] = at, true
end

local function charge_name(name)
  if per_minute == 0 then return end
  local single = string.sub(name, 1, NAME)
  if full_at(single) > R.now or not is_crowded() then return take_token(single, per_minute), 1 end
  return take_token(string.sub(name, NAME + 1), per_minute * WIDER), 0
end

-- All three buckets have a token, or none is taken. Where single networks are too many, the wider one counts alone.
local function charge_narrow(name, own, around)
  local single, wider = NARROW .. string.sub(name, 1, NAME), NARROW .. string.sub(name, NAME + 1)
  local _, wider_wait = after_token(wider, around)
  local counts, single_wait = full_at(single) > R.now or not is_crowded(), nil
  if counts then _, single_wait = after_token(single, own) end
  if wider_wait or single_wait then return max(wider_wait or 0, single_wait or 0), 0 end
  local wait, sure = charge_name(name)
  if wait then return wait, sure end
  take_token(wider, around)
  if counts then take_token(single, own) end
end

-- Charge a source for a new place; nothing is written yet. Returns nil, or how many ms to wait, and 1 if that is
-- certain for every join of the network: 0 = its own bucket may become free earlier, or only a narrow door is shut.
local function charge(source)
  if source == '' then return end
  if #source <= NAME + 2 then return charge_name(source) end
  local name, own, around = string.match(source, '^(.+):(%d+):(%d+)$')
  return charge_narrow(name, tonumber(own), tonumber(around))
end

-- Write the buckets, once per call, and remove a bounded number of full ones.
local function save_sources()
  local args = {}
  for name in pairs(charged) do
    args[#args + 1], args[#args + 2] = sources[name], name
  end
  if #args == 0 then return end
  redis.call('ZADD', K.sources, unpack(args))
  redis.call('EXPIRE', K.sources, 2 * MINUTE_MS / 1000)
  if redis.call('ZCARD', K.sources) <= KEPT_FULL then return end
  local idle = redis.call('ZCOUNT', K.sources, '-inf', string.format('%.0f', R.now))
  if idle > 0 then redis.call('ZREMRANGEBYRANK', K.sources, 0, min(idle, 2 * LIMIT) - 1) end
end
