-- Somebody has a place again, whatever ended before it.
-- Needs: nothing.

local KEPT_REINSTATED = 100 -- for other processes, which read them within seconds

-- Somebody has a place again, whatever ended before it: tickets of an earlier place lead to this one.
local function stand_again(id, place)
  local defers = string.match(redis.call('HGET', K.moved, id) or '', '^%d+') or '0'
  redis.call('HSET', K.moved, id, string.format('%s:%.0f', defers, place))
  redis.call('ZREM', K.kicked, id)
  if tonumber(redis.call('ZSCORE', K.gone, id) or 0) < place then redis.call('ZREM', K.gone, id) end
end

-- What a process remembers of a reinstated person, to do it again after a loss; and, for other processes, the newest of
-- them: 'id place at', by blanks.
local function note_reinstated(id, place)
  local notes = {}
  for note in string.gmatch(redis.call('HGET', K.meta, 'reinstatements') or '', '%S+ %d+ %d+') do
    notes[#notes + 1] = note
  end
  if #notes >= KEPT_REINSTATED then table.remove(notes, 1) end
  notes[#notes + 1] = string.format('%s %.0f %.0f', id, place, wall(R.now))
  redis.call('HSET', K.meta, 'reinstatements', table.concat(notes, ' '))
  R.endings = R.endings or {}
  R.endings[#R.endings + 1] = string.format('%s reinstated %.0f 0 0 %.0f', id, place, wall(R.now))
end
