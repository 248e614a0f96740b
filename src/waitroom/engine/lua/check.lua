-- check: is each of these sessions inside now? Reads only, and is no sign of life: for gates, which ask for every
-- request that they let through.
-- Needs: nothing.
-- KEYS: as in _common.
-- ARGV: 6 the ids of all tickets, 16 characters each   7 their session ids, by blanks
-- Returns: ok (inside = one character per session, '1' = it is) | lost, unknown_room, upgrade_needed

-- Reads only what a deadline needs: reading the whole room costs more than the check. The verbs that write handle a
-- lost second, wrong types and a clock that went back.
local values = redis.call('HMGET', K.meta, 'schema', 'epoch', 'rev', 'watermark', 'last', 'offset', 'alive_at',
  'dropped')
for i = 1, 7 do values[i] = tonumber(values[i] or 0) end
R.epoch, R.rev, R.watermark, R.last = values[2], values[3], values[4], values[5]
R.version = tonumber(redis.call('HGET', K.config, 'version') or 0)
if values[1] > SCHEMA then return failed('upgrade_needed', 'schema', values[1]) end
if values[8] then return failed('unknown_room') end
if R.epoch == 0 or R.version == 0 or tonumber(ARGV[2]) > R.epoch then return failed('lost') end
local raw_us = tonumber(ARGV[1])
if not raw_us then
  local time = redis.call('TIME')
  raw_us = time[1] * 1000000 + time[2]
end
R.now = floor((raw_us + values[6]) / 1000)
if R.now < values[7] - 1000 then R.now = values[7] end -- as keep_time does, but nothing is written
R.offset_ms = R.now - floor(raw_us / 1000)

-- Three commands, however many sessions were asked for.
local ids, out, n = {}, {}, 0
for i = 1, #ARGV[6], 16 do ids[#ids + 1] = string.sub(ARGV[6], i, i + 15) end
local sids = redis.call('HMGET', K.sids, unpack(ids))
-- Everybody in `sids` is in `inside` too. Session ends are read only while some are over and not swept.
local over = redis.call('ZCOUNT', K.inside, '-inf', string.format('%.0f', R.now)) > 0
local ends = over and redis.call('ZMSCORE', K.inside, unpack(ids))
-- The session id must be the current one: a visitor may have had an earlier one, with a pass that is still valid.
for sid in string.gmatch(ARGV[7], '[^ ]+') do
  n = n + 1
  out[n] = sids[n] == sid and (not over or tonumber(ends[n] or 0) > R.now) and '1' or '0'
end
return reply('ok', 'inside', table.concat(out))
