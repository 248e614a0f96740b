-- What somebody who is here is told.
-- Needs: deadlines, line.

-- Place, number and session of a ticket by its state and score: its position, until when it may enter, or until when it
-- may stay.
local function whereabouts(id, state, score)
  if state == 'waiting' then return score, told_position(id), 0 end
  if state == 'called' then return 0, wall(enter_by(score)), 0 end
  return 0, wall(score), tonumber(redis.call('HGET', K.sids, id) or 0)
end
