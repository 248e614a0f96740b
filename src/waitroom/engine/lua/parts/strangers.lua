-- Notes about people who were kicked, though nothing here knew them.
-- Needs: gone.

-- Whether the place that `gone` notes of somebody is nobody's. If `gone` has another place by now, that one is theirs.
local function is_stranger(id, noted)
  return redis.call('HGET', K.moved, id .. ';') == string.format('1:%.0f', noted)
end

-- Note a kick of somebody who is nowhere. Any place given so far may be theirs, so `gone` notes the last one, `place`:
-- it keeps all their tickets out. If nothing knows them they never had it, and `reinstate` must not give it to them.
-- Returns true for such a stranger.
local function note_kicked_absent(place, id)
  local noted = tonumber(redis.call('ZSCORE', K.gone, id) or nil)
  local known = (noted and not is_stranger(id, noted)) or redis.call('HEXISTS', K.moved, id) == 1
    or redis.call('ZSCORE', K.swept, id)
  note_gone(place, id)
  if known then return false end
  noted = redis.call('ZSCORE', K.gone, id)
  if noted then redis.call('HSET', K.moved, id .. ';', string.format('1:%.0f', tonumber(noted))) end
  return true
end
