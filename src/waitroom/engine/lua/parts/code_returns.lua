-- Uses of entry codes that go back to their code, or on to somebody else.
-- Needs: nothing.

-- Somebody leaves before their turn: the use that they hold is free again. Once they were called they hold none.
local function give_back(id)
  local name = redis.call('HGET', K.coded, id)
  if not name then return end
  redis.call('HDEL', K.coded, id)
  local ids = {}
  for other in string.gmatch(redis.call('HGET', K.codes, name) or '', '%S+') do
    if other ~= id then ids[#ids + 1] = other end
  end
  if #ids > 0 then
    redis.call('HSET', K.codes, name, table.concat(ids, ' '))
  else
    redis.call('HDEL', K.codes, name)
  end
  redis.call('HINCRBY', K.codes, string.sub(name, 1, 4), -1)
end

-- A place goes over to somebody else, and the use that its holder has with it.
local function hand_over_code(id, to)
  local name = redis.call('HGET', K.coded, id)
  if not name then return end
  redis.call('HDEL', K.coded, id)
  redis.call('HSET', K.coded, to, name)
  local ids = {}
  for other in string.gmatch(redis.call('HGET', K.codes, name) or '', '%S+') do
    ids[#ids + 1] = other == id and to or other
  end
  redis.call('HSET', K.codes, name, table.concat(ids, ' '))
end
