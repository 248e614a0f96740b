-- People get their turn.
-- Needs: events, saving.

-- It only goes up, and only for calls from the head: tickets at or before it have had their turn.
local function raise_watermark(place)
  if place > R.watermark then
    R.watermark = place
    set('watermark', place)
  end
end

-- Give a turn to people who are in no set: the caller has taken them out of `waiting`, or never put them in.
-- `places` are the places that they had, so that the order can be checked afterwards.
local function mark_called(ids, places)
  local until_ms = R.enter_within and R.now + R.enter_within or FOREVER
  local args, exact = {}, {}
  for i, id in ipairs(ids) do
    args[2 * i - 1], args[2 * i] = until_ms, id
    exact[i] = string.format('%.0f', places[i])
  end
  redis.call('ZADD', K.called, unpack(args))
  redis.call('HDEL', K.coded, unpack(ids)) -- the turn uses up their entry codes: leaving gives none back
  if R.n_called then R.n_called = R.n_called + #ids end
  count('called_total', #ids)
  event('called', ids, 'places', table.concat(exact, ' '))
  return until_ms
end
