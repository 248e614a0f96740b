-- How often people may join from one network: a bucket of tokens per source, for all processes together. `scripts.py`
-- puts this file before `join` alone.
--
-- `sources` holds for each bucket when it is full again. A full bucket need not be there, so a network from which
-- somebody comes now and then costs nothing: of 600 tokens a minute, one is back after 0.1 s.

local MINUTE_MS = 60000
local SLACK_MS = 0.5 -- sums of fractions are not exact
local MOST_SOURCES = 10000 -- buckets of single networks in use, about 1 MB; beyond that wider networks count
local WIDER = 16 -- as many times the limit may join from a wider network
local NAME = 12 -- letters of a source's name. Two more name the network around it, so these are at most 4096
local KEPT_FULL = 500 -- full buckets that may stay: where few come, it costs more to remove them

local sources, charged, per_minute, crowded = {}, {}, tonumber(ARGV[7]), nil

local function full_at(name)
  sources[name] = sources[name] or tonumber(redis.call('ZSCORE', K.sources, name) or 0)
  return sources[name]
end

-- Whether no further network gets a bucket of its own. By those in use: full ones may not be removed yet.
local function is_crowded()
  if crowded == nil then
    crowded = redis.call('ZCARD', K.sources) >= MOST_SOURCES
      and redis.call('ZCOUNT', K.sources, '(' .. string.format('%.0f', R.now), '+inf') >= MOST_SOURCES
  end
  return crowded
end

-- Take a token. Returns nil, or how many ms until there is one.
local function take_token(name, most)
  local step = MINUTE_MS / most
  -- A bucket is full after a minute at the latest, whatever a clock did.
  local at = min(max(full_at(name), R.now), R.now + MINUTE_MS + step)
  local wait = at + step - R.now - MINUTE_MS
  if wait > SLACK_MS then return math.ceil(wait) end
  sources[name], charged[name] = at + step, true
end

-- Charge a source for a new place; nothing is written yet. Returns nil, or how many ms to wait, and 1 if that is sure:
-- 0 = a bucket of its own may become free before.
local function charge(source)
  if source == '' or per_minute == 0 then return end
  local name = string.sub(source, 1, NAME)
  if full_at(name) > R.now or not is_crowded() then return take_token(name, per_minute), 1 end
  return take_token(string.sub(source, NAME + 1), per_minute * WIDER), 0
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
