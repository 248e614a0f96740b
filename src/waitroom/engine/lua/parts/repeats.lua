-- Calls with an op_id, which may come twice.
-- Needs: nothing.

-- A repeated op_id gets its first answer again, whatever has happened since: a caller whose reply was lost cannot know
-- that it repeats.
local function replay()
  local packed = K.op and redis.call('GET', K.op)
  if packed then return cmsgpack.unpack(packed) end
end

-- After `save`, because the answer carries the new rev. One script writes the change and its answer: both or neither.
local function remember(answer, kept_ms)
  if K.op then redis.call('SET', K.op, cmsgpack.pack(answer), 'PX', kept_ms or 600000) end
  return answer
end
