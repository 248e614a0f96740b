-- What a new policy changes.
-- Needs: nothing.

-- What the policy in ARGV, from `first` on, changes: field, old, new, ... for an event.
local function differences(first)
  local old, changed, stored = {}, {}, redis.call('HGETALL', K.config)
  for i = 1, #stored, 2 do old[stored[i]] = stored[i + 1] end
  for i = first, #ARGV, 2 do
    local before = old[ARGV[i]] or ''
    if before ~= ARGV[i + 1] then
      changed[#changed + 1], changed[#changed + 2], changed[#changed + 3] = ARGV[i], before, ARGV[i + 1]
    end
  end
  return cjson.encode(changed)
end
