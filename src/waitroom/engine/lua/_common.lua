-- What every verb shares: the maps of KEYS, ARGV and R, reading and writing a room, deadlines. `scripts.py`
-- puts this file in front of each verb's own, with `_moves.lua` in between for all but poll, list and check,
-- and `_sources.lua` for join.
--
-- KEYS, the same for every verb (`keys.py` builds them; all share the hash tag {room}):
--    1 config   HASH    policy field -> value, '' = no limit; version;
--                       message_at: when its message was set (wall ms)      written by configure
--    2 meta     HASH    schema, epoch, rev, last place, watermark, pace
--                       slot, alive_at, hold_until, restoring_until,
--                       cursors, counters;
--                       foreign: tickets of another deployment;
--                       reinstatements: 'id place at' of the newest 100;
--                       waited_ms: how long the last one called from the
--                       head had waited, until `sample` takes it;
--                       woke_at, woke_rev: the first change after a quiet
--                       minute (ms), and `rev` before it;
--                       'pace' -> what a record elsewhere says of it       always beside config
--    3 waiting  ZSET    id -> place: arrival in us, unique, steps of 8     goes when called or gone
--    4 seen     HASH    id -> last poll in s (room time)                   goes with `waiting`
--    5 called   ZSET    id -> enter-by in ms (room time)                   goes on enter, no-show
--    6 inside   ZSET    id -> session end in ms (room time)                goes on finish, expiry
--    7 sids     HASH    id -> session id of who is inside                  goes with `inside`
--    8 done     ZSET    sid that was ended early -> when it would have     pruned by advance
--    9 gone     ZSET    id that left, was kicked or called by hand -> its place,
--                       while that is after the watermark                  pruned by advance
--   10 moved    HASH    id -> 'defers:place' of a place other than the
--                       first ticket's                                     pruned by advance
--   11 entries  HASH    bucket start in ms -> entries in it, at most 61    pruned by enter, configure
--   12 events   STREAM  kind, at (us), n (which event of the room), ids,
--                       and reason, places, sid, version, moment as fits   capped
--   13 series   STREAM  at (wall-clock ms), numbers, counters, waits and
--                       limits                                             capped
--   14 record   HASH    id -> revision that `settle` brought here, of who
--                       is gone 'revision:since when in s'                 pruned by settle
--   15 swept    ZSET    id that was dropped for silence -> its place,
--                       while it may come back to it                       pruned by advance
--   16 swept_at ZSET    id of these -> when, in ms; only with `return_s`   goes with `swept`
--   17 sources  ZSET    keyed hash of a network that people join from ->
--                       when its bucket of joins is full, in ms            expires
--   18 kicked   ZSET    id that an operator removed -> when, in ms (room
--                       time); FOREVER = banned                            goes on join, pruned by advance
--   19 op       STRING  the packed reply of one op_id; only with an op_id   expires
--
-- ARGV, the same for every verb; the verb's own begin at ARGV[6]:
--   1 now in us, or '' for the server's TIME        2 epoch     }
--   3 rev   4 watermark                             5 last      } what the caller has seen so far
--
-- Reply: {'waitroom/1', word, name, value, name, value, ...}; times in replies are wall-clock ms.
--
-- Room time: the server's clock plus `offset`, which grows when that clock steps back, so that
-- room time never does. Slots, windows and deadlines all count in it.
--
-- R: the room as this call sees it. Nothing of it outlives the call; `set` and `save` write fields of
-- `meta` back. Times are room time unless it says wall. A policy field that is nil has no limit.
--   field             unit    set by                            what it is
--   R.p               table   read_policy                       the policy as stored: name -> text, '' = no limit
--   R.version         number  read_policy, check, configure     version of the policy
--   R.message_at      wall ms configure                         when its message was set, '' = nobody knows
--   R.capacity        people  read_policy                       policy: called and inside at the same time
--   R.batch           people  read_policy                       policy: calls per slot of `R.every`
--   R.every           ms      read_policy                       policy: length of such a slot
--   R.max_entries     people  read_policy                       policy: entries per window of `R.per`
--   R.per             ms      read_policy                       policy: length of that window
--   R.session         ms      read_policy                       policy: length of a session
--   R.longest         ms      read_policy                       policy: longest that renewals make a session
--   R.enter_within    ms      read_policy                       policy: how long a called ticket has its turn
--   R.presence        ms      read_policy                       policy: silence after which one is absent
--   R.returns         ms      read_policy                       policy: who was dropped may come back for so long
--   R.recover         ms      read_policy                       policy: admission holds for so long after a loss
--   R.queue_limit     people  read_policy                       policy: most who wait
--   R.ttl             ms      read_policy                       policy: oldest a waiting ticket gets
--   R.idle            ms      read_policy                       policy: an empty room is tidied up after it
--   R.opens_at_ms     wall ms read_policy                       policy: opening time
--   R.ends_at_ms      wall ms read_policy                       policy: end time
--   R.max_defers      number  read_policy                       policy: how often a ticket may be deferred
--   R.schema          number  open_room                         layout of the keys, 0 = none written yet
--   R.epoch           us      open_room, check, clear,          raised by create and clear; a ticket of an
--                             configure                         earlier one is worth nothing
--   R.rev             number  open_room, learn, save, check,    calls that changed something; a caller that
--                             configure                         saw a higher one proves a loss
--   R.last            us      open_room, learn, next_place,     highest place given out by arrival
--                             note_place, check, configure
--   R.watermark       us      open_room, learn,                 highest place called from the head
--                             raise_watermark, check, configure
--   R.forgotten       us      open_room, forget_up_to, clear    highest place that `gone` has forgotten: of those up to
--                                                               it only who is in `swept` may come back
--   R.slot_start      ms      open_room, pace_left              when the slot of `R.every` began
--   R.slot_count      people  open_room, pace_left, count_pace  calls in it
--   R.bucket_ms       ms      open_room, rekey                  width of a bucket of `entries`
--   R.alive_at        ms      open_room, keep_time, configure   last call, written once a second
--   R.polled_at       ms      open_room, note_visit             last poll or join, written once a second
--   R.silent_from     ms      open_room, give_time_back,        start of our last silence: enter-bys from here
--                             configure                         on ...
--   R.grace_until     ms      open_room, give_time_back,        ... last until then at least
--                             configure
--   R.resumed_at      ms      open_room, give_time_back,        end of that silence: presence counts from here
--                             configure
--   R.hold_until      ms      open_room, hold, configure        until then only force and bypass call people
--   R.restoring_until ms      open_room, hold, configure        until then the line may lack people, so that nobody
--                                                               is told a position
--   R.offset          us      open_room, keep_time, configure   room time minus the server's clock
--   R.sweep_after     us      open_room                         place up to which the absent were swept
--   R.sweep_at        ms      open_room, advance                when the sweep goes on
--   R.draw_floor      us      open_room                         places are drawn above it
--   R.draw_top        us      open_room, drawn_place,           highest place drawn
--                             note_place
--   R.draw_until      wall ms open_room, drawn_place            the opening that they were drawn for
--   R.opened          wall ms open_room                         the opening time that has come
--   R.ended           wall ms open_room                         the end time that has come
--   R.rebuilt         0 or 1  open_room, learn                  1 = made again from a process's memory
--   R.last_sid        us      open_room, go_inside              highest session id
--   R.history_at      ms      open_room, note_history           last moment of the history of entries
--   R.active_at       ms      open_room, tell_moments           last call that changed something
--   R.dropped         ms      open_room                         when the room was dropped, 0 = it is there
--   R.changes         table   open_room, configure              name, value, ... that `save` writes to meta
--   R.counts          table   open_room, configure              counter -> how many `save` adds
--   R.foreign         number  judge_absent                      tickets of another deployment in this call, or nil
--   R.endings         table   note_ending, note_reinstated      what the caller is to remember of who was taken out,
--                                                               or has a place again
--   R.changed         boolean count, take_out, end_again, kick, somebody's state changed in this call, or its hour came
--                             tell_moments, reinstate_again
--   R.event_no        number  open_room, event                  how many events the room has had
--   R.told            boolean event                             this call wrote some
--   R.told_opened     wall ms open_room                         the opening time that an event told
--   R.told_ended      wall ms open_room                         the end time that an event told
--   R.raw_ms          wall ms keep_time                         the server's clock
--   R.now             ms      keep_time, check                  room time of this call
--   R.now_us          us      keep_time                         the same, finer
--   R.offset_ms       ms      keep_time, check                  `R.offset`: room time to wall time
--   R.mode            text    judge_mode                        `mode`, or 'ended' once the end time has come
--   R.rests           boolean judge_mode                        closed or ended, maybe for hours: nobody is absent
--   R.before          boolean judge_mode                        the opening time is yet to come
--   R.draws           boolean judge_mode                        so places are drawn
--   R.hidden          boolean judge_mode                        so nobody may learn the order: of a draw, also
--                                                               where the policy has stopped drawing since
--   R.bypass          boolean judge_mode                        everybody goes in, no limit holds
--   R.calls           boolean judge_mode                        people are called without an operator
--   R.by_hand         boolean judge_mode                        an operator may call without force
--   R.refuses         text    judge_mode                        why newcomers are refused, nil = they are not
--   R.n_waiting       people  open_room, drop_waiting,          how many wait, kept right while this call
--                             configure, join, settle,          moves them
--                             reinstate
--   R.n_called        people  live_called, mark_called,         called and in time; nil until somebody asks
--                             go_inside, take_out
--   R.n_inside        people  live_inside, go_inside, take_out  inside and in time; nil until somebody asks
--   R.n_entries       people  entries_in_window, note_entries   entries in the window; nil until somebody asks
--   R.stale_buckets   table   entries_in_window, note_entries   buckets that the window has passed
--   R.window_frees_at ms      entries_in_window                 when the oldest bucket leaves the window

local SCHEMA = 1
local LIMIT = 500 -- most members that one call may move
local STEP = 8 -- between two places, so that deferred people fit in between
local FOREVER = 9e15 -- the score of "no deadline": exact in a double, and after every real time
local KEPT_EVENTS = 10000 -- about: '~' lets the stream drop whole nodes only, which is cheap
local REV_JUMP = 1000000 -- puts `rev` above every caller's after a loss: it is noticed once
local KICK_TOLD_MS = 86400000 -- for a day people are told that they were kicked
local SESSION_KEPT_MS = 86400000 -- a session without an end is known as ended for a day
local QUIET_MS = 60000 -- a change after so long without one wakes the room: its history knows what was quiet

local K = {
  config = KEYS[1], meta = KEYS[2], waiting = KEYS[3], seen = KEYS[4], called = KEYS[5],
  inside = KEYS[6], sids = KEYS[7], done = KEYS[8], gone = KEYS[9], moved = KEYS[10],
  entries = KEYS[11], events = KEYS[12], series = KEYS[13], record = KEYS[14],
  swept = KEYS[15], swept_at = KEYS[16], sources = KEYS[17], kicked = KEYS[18], op = KEYS[19],
}
-- What a key must be, if it is there. `series` is not here: only `sample` writes it, and checks it itself.
local TYPES = {
  config = 'hash', meta = 'hash', waiting = 'zset', seen = 'hash', called = 'zset', inside = 'zset',
  sids = 'hash', done = 'zset', gone = 'zset', moved = 'hash', entries = 'hash', events = 'stream',
  record = 'hash', swept = 'zset', swept_at = 'zset', sources = 'zset', kicked = 'zset', op = 'string',
}
-- A verb that writes to these alone need not look at the others: reading a wrong one fails by itself.
local POLL_TYPES = {config = 'hash', meta = 'hash', waiting = 'zset', seen = 'hash'}
-- One HMGET reads each of these lists, in this order; Python has the same names (a test compares them).
local POLICY = {
  'version', 'mode', 'capacity', 'batch', 'every_s', 'max_entries', 'per_s', 'session_s',
  'renewable', 'longest_s', 'enter_within_s', 'presence_s', 'return_s', 'recover_s', 'queue_limit', 'ticket_ttl_s',
  'idle_ttl_s', 'opens_at_ms', 'ends_at_ms', 'before_open', 'max_defers',
}
local META = {
  'schema', 'epoch', 'rev', 'last', 'watermark', 'slot_start', 'slot_count', 'bucket_ms',
  'alive_at', 'polled_at', 'silent_from', 'resumed_at', 'grace_until', 'hold_until', 'offset', 'sweep_after',
  'sweep_at', 'draw_floor', 'draw_top', 'draw_until', 'opened', 'ended', 'rebuilt', 'last_sid', 'history_at',
  'active_at', 'dropped', 'forgotten', 'restoring_until', 'event_no', 'told_opened', 'told_ended',
}
-- Lifetime counters are added to with HINCRBY and only read where they are shown: no call needs their sum.
local COUNTERS = {
  'joined', 'restored', 'called_total', 'entered', 'finished', 'left', 'kicked', 'expired',
  'no_show', 'abandoned', 'deferred', 'reinstated',
}

local floor, max, min = math.floor, math.max, math.min
local R = {} -- see the map above

-- An answer without epoch and rev: the room was not read, so there is nothing to remember of it.
local function failed(word, ...)
  return {'waitroom/1', word, ...}
end

-- The head of every other answer is what a process remembers of the room, to bring it back after a loss.
local function reply(word, ...)
  return {
    'waitroom/1', word, 'epoch', R.epoch, 'rev', R.rev, 'watermark', R.watermark, 'last', R.last,
    'version', R.version, 'now', R.now - R.offset_ms, ...,
  }
end

-- A time of the room as the visitor's clock shows it; 0 = none.
local function wall(room_ms)
  if room_ms >= FOREVER then return 0 end
  return room_ms - R.offset_ms
end

-- Policies hold seconds, perhaps 0.5; scripts count in whole ms. nil stays nil: no limit.
local function ms(seconds)
  seconds = tonumber(seconds)
  return seconds and floor(seconds * 1000 + 0.5)
end

-- Wrong types are found before the first write: a script that fails half-way leaves people nowhere.
local function wrong_type(types)
  for name, want in pairs(types or TYPES) do
    local is = K[name] and redis.call('TYPE', K[name]).ok or 'none'
    if is ~= want and is ~= 'none' then return name end
  end
end

-- Fields of meta are collected and written once, by `save`: before it a script can still end without a trace.
local function set(field, value)
  R.changes[#R.changes + 1] = field
  R.changes[#R.changes + 1] = value
end

-- Lifetime counters change just when somebody's state does.
local function count(field, n)
  if n == 0 then return end
  R.counts[field] = (R.counts[field] or 0) + n
  R.changed = true
end

-- Each call reads the policy anew: a change acts on the very next call, in every process.
local function read_policy()
  local values = redis.call('HMGET', K.config, unpack(POLICY))
  local p = {}
  for i = 1, #POLICY do p[POLICY[i]] = values[i] or '' end
  R.p = p
  R.version = tonumber(p.version) or 0
  R.capacity, R.batch, R.max_entries = tonumber(p.capacity), tonumber(p.batch), tonumber(p.max_entries)
  R.queue_limit, R.opens_at_ms, R.ends_at_ms = tonumber(p.queue_limit), tonumber(p.opens_at_ms), tonumber(p.ends_at_ms)
  R.every, R.per, R.session, R.enter_within = ms(p.every_s), ms(p.per_s), ms(p.session_s), ms(p.enter_within_s)
  R.presence, R.recover, R.ttl, R.idle = ms(p.presence_s), ms(p.recover_s) or 0, ms(p.ticket_ttl_s), ms(p.idle_ttl_s)
  R.longest, R.returns = ms(p.longest_s), ms(p.return_s)
  R.max_defers = tonumber(p.max_defers) or 0
end

-- What `mode`, `opens_at_ms`, `ends_at_ms` and `before_open` come to at this moment.
local function judge_mode()
  local mode, early = R.p.mode, R.p.before_open
  if R.ends_at_ms and (R.raw_ms >= R.ends_at_ms or R.ended == R.ends_at_ms) then
    mode = 'ended'
    if R.ended ~= R.ends_at_ms then set('ended', R.ends_at_ms) end -- a clock set back does not begin it again
  end
  R.mode, R.rests = mode, mode == 'closed' or mode == 'ended'
  local before = R.opens_at_ms ~= nil and R.raw_ms < R.opens_at_ms
  if before and R.opened == R.opens_at_ms then
    before = false -- it has been open: a clock set back does not close it again
  elseif R.opens_at_ms and not before and R.opened ~= R.opens_at_ms then
    set('opened', R.opens_at_ms)
  end
  local works = mode == 'open' or mode == 'manual'
  -- 'pass' before the opening means as if there were no waiting room, but not in one that is paused or closed.
  R.draws = before and early == 'draw'
  R.hidden = R.draws or (before and R.draw_until > R.opened)
  R.bypass = mode == 'bypass' or (before and early == 'pass' and works)
  R.by_hand = works and (not before or early == 'pass')
  R.calls = R.bypass or (mode == 'open' and not before)
  R.before = before
  -- Only newcomers are refused: who has a place keeps it.
  if mode == 'closed' then
    R.refuses = 'room_closed'
  elseif mode == 'ended' then
    R.refuses = 'room_ended'
  elseif before and early == 'refuse' and not R.bypass then
    R.refuses = 'room_not_open'
  end
end

-- Call nobody for `recover_s`. Never shorter than a hold that is on: two losses are not one.
-- After a loss people come back one by one, and until all had time to, a position would be too small. `silent_from`
-- says that nothing was lost: there was a silence, in which nobody could come back either.
local function hold(silent_from)
  R.hold_until = max(R.hold_until, R.now + R.recover)
  set('hold_until', R.hold_until)
  if silent_from and R.restoring_until <= silent_from then return end
  R.restoring_until = R.hold_until
  set('restoring_until', R.restoring_until)
end

-- Whether the line may lack people after a loss.
local function restoring()
  return R.restoring_until > R.now
end

-- The time from `silent_from` until now was ours to answer for: presence, returns and enter-bys count from now.
-- Who had their time again from an earlier silence, and had not used it up, has it once more.
local function give_time_back(silent_from)
  if silent_from > R.grace_until then R.silent_from = silent_from end
  R.resumed_at, R.grace_until = R.now, R.now + (R.enter_within or 0)
  set('silent_from', R.silent_from)
  set('resumed_at', R.resumed_at)
  set('grace_until', R.grace_until)
end

-- A visitor reached us: see `visitors_cut_off`.
local function note_visit()
  if R.now - R.polled_at < 1000 then return end
  R.polled_at = R.now
  set('polled_at', R.now)
end

-- Room time, and what a jump of it means. Backwards: the offset grows. A long silence while people
-- wait was ours, not theirs: presence and enter-by count from now, and after `recover_s` of it
-- admission holds until people are back.
local function keep_time(raw_us)
  R.raw_ms = floor(raw_us / 1000)
  R.now = floor((raw_us + R.offset) / 1000)
  -- Within a second it is no step: `alive_at` is that coarse, and servers' clocks are slewed all the time.
  if R.now < R.alive_at - 1000 then
    R.offset = R.offset + (R.alive_at - R.now) * 1000
    R.now = R.alive_at
    set('offset', R.offset)
  end
  R.now_us = raw_us + R.offset
  R.offset_ms = R.now - R.raw_ms
  local gap = R.now - R.alive_at
  if gap < 1000 then return end -- `alive_at` is written once a second, not by every call
  -- Half of what people have: with all of it an outage of a minute would sweep a room with a minute's presence.
  -- 5 s at least, for a process may pause so long without anything being wrong.
  local quiet = max(5000, min(R.recover, (R.presence or FOREVER) / 2, (R.enter_within or FOREVER) / 2,
    (R.returns or FOREVER) / 2))
  -- Nobody waits and nobody is called: then a silence cost nobody anything, and there is nothing to give back.
  if gap > quiet and R.alive_at > 0 and (R.n_waiting > 0 or redis.call('EXISTS', K.called) == 1) then
    -- We may have judged by the clock until a second after `alive_at`: what was over then stays over.
    give_time_back(R.alive_at + 1000)
    if gap > R.recover then hold(R.alive_at) end
  end
  R.alive_at = R.now
  set('alive_at', R.now)
end

-- The caller may know more than we do: a failover lost the last second. Then take what it knows,
-- and hold so that the old order is back before anybody is called.
local function learn(rev, watermark, last)
  if R.rev < rev then
    -- Other processes may know still higher ones. The jump passes them all, so that one loss holds once.
    R.rev = rev + REV_JUMP
    set('rev', R.rev)
    -- A replica has most of the room. Who waits at or before the watermark was called in the lost second, and
    -- nobody knows whether they entered: they keep their place, unlike in a room that was made from nothing.
    set('rebuilt', 0)
    R.rebuilt = 0
    hold()
  end
  if R.watermark < watermark then
    R.watermark = watermark
    set('watermark', watermark)
  end
  if R.last < last then
    R.last = last
    set('last', last)
  end
end

-- Read the room. Returns nil, or the reply that ends this call: nothing has been written by then.
local function open_room(types, reads)
  -- The order matters: types before any read that would fail, schema before fields that may mean something
  -- else, `dropped` before 'lost', or a process that remembers the room would bring it back.
  local bad = wrong_type(types)
  if bad then return failed('broken_room', 'key', bad) end
  read_policy()
  local values = redis.call('HMGET', K.meta, unpack(META))
  R.changes, R.counts = {}, {}
  for i = 1, #META do R[META[i]] = tonumber(values[i]) or 0 end
  if R.schema > SCHEMA then return failed('upgrade_needed', 'schema', R.schema) end
  if R.dropped > 0 then return failed('unknown_room') end
  if R.epoch == 0 or R.version == 0 then return failed('lost') end
  local epoch = tonumber(ARGV[2])
  if epoch > R.epoch then return failed('lost') end -- a replica from before a clear, or before all of it
  R.n_waiting = redis.call('ZCARD', K.waiting)
  local raw_us = tonumber(ARGV[1])
  if not raw_us then
    local time = redis.call('TIME')
    raw_us = time[1] * 1000000 + time[2]
  end
  keep_time(raw_us)
  judge_mode()
  -- A caller of an earlier epoch knows nothing that still holds; a verb that only reads cannot write it down.
  if epoch == R.epoch and not reads then learn(tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])) end
end

-- Write what changed in meta: once per call, last. `rev` counts the calls that changed something: anybody's
-- state (`count` knows), or what the verb says with `changed`: a deadline, the policy, the epoch, a record.
local function save(changed)
  changed = changed or R.changed
  for field, n in pairs(R.counts) do redis.call('HINCRBY', K.meta, field, n) end
  if changed then
    -- Also after a time that is yet to come: room time begins anew when a room has been tidied up.
    -- Only `sample` reads these two, so they are not among the fields that every call reads.
    if math.abs(R.now - R.active_at) >= QUIET_MS then
      redis.call('HSET', K.meta, 'woke_at', R.now, 'woke_rev', R.rev)
    end
    R.rev = R.rev + 1
    set('rev', R.rev)
    set('active_at', R.now)
  end
  if R.foreign then
    redis.call('HINCRBY', K.meta, 'foreign', R.foreign)
    redis.call('HSET', K.meta, 'foreign_at', R.raw_ms)
  end
  if R.told then set('event_no', R.event_no) end
  if #R.changes > 0 then redis.call('HSET', K.meta, unpack(R.changes)) end
end

-- End a call that moved nobody. It still writes what the clock and the caller told (`alive_at`, a hold after a
-- loss), which must not depend on the verb's answer. The one write that may stand before the first-write mark.
local function no_change(word, ...)
  save(false)
  return reply(word, ...)
end

-- Many tickets in one entry: a call of 500 people is one event. `at` is room time; the entry's own id is the
-- server's clock, which may be another. Numbered, so that a reader knows what it missed, also when the stream was
-- trimmed or tidied away meanwhile.
local function event(kind, ids, ...)
  R.event_no, R.told = R.event_no + 1, true
  if R.hidden and kind == 'ended' then table.sort(ids) end -- who is swept away may come back: in no order
  redis.call('XADD', K.events, 'MAXLEN', '~', KEPT_EVENTS, '*', 'kind', kind, 'at', R.now_us,
    'n', R.event_no, 'ids', table.concat(ids, ' '), ...)
end

-- A repeated op_id answers what it answered the first time, whatever has happened since: a caller whose reply
-- was lost cannot know that it repeats.
local function replay()
  local packed = K.op and redis.call('GET', K.op)
  if packed then return cmsgpack.unpack(packed) end
end

-- After `save`, for the answer carries the new rev. One script writes the change and its answer: both, or none.
local function remember(answer, kept_ms)
  if K.op then redis.call('SET', K.op, cmsgpack.pack(answer), 'PX', kept_ms or 600000) end
  return answer
end

-- Deadlines ------------------------------------------------------------------------------------

-- Called tickets with an enter-by up to here have lost their turn. Those whose time ran out while
-- we were silent get it again, from the moment we were back.
local function called_cutoff()
  if R.now < R.grace_until then return min(R.now, R.silent_from - 1) end
  return R.now
end

-- The enter-by that people are told: what `called_cutoff` will judge by, so never earlier than the truth.
local function enter_by(score)
  if score >= R.silent_from then return max(score, R.grace_until) end
  return score
end

-- Where a ticket is, by its deadline, whether or not a sweep has run: state, score. Waiting is looked for first,
-- as most of those who ask wait.
local function locate(id)
  local score = redis.call('ZSCORE', K.waiting, id)
  if score then return 'waiting', tonumber(score) end
  score = tonumber(redis.call('ZSCORE', K.called, id) or nil)
  if score then
    if score > called_cutoff() then return 'called', score end
    return 'no_show', score
  end
  score = tonumber(redis.call('ZSCORE', K.inside, id) or nil)
  if score then
    if score > R.now then return 'inside', score end
    return 'expired', score
  end
end

-- Whether `return_s` has run out for everybody who was dropped before it. It counts from the end of our own silence
-- at the earliest, and not in a room that rests.
local function returns_end()
  return R.returns ~= nil and not R.rests and R.now - R.resumed_at > R.returns
end

-- Dropped for silence, and back too late. Who was dropped before the policy had `return_s` has no time noted:
-- `configure` lets theirs begin with the change.
local function is_overdue(id)
  if not returns_end() or not redis.call('ZSCORE', K.swept, id) then return false end
  return R.now - tonumber(redis.call('ZSCORE', K.swept_at, id) or 0) > R.returns
end

-- Whether an operator has removed this ticket since a moment (in ms), and it has not joined again. This tells why
-- somebody is gone, and keeps nobody out: `gone` and the watermark do.
local function was_kicked(id, since)
  local at = tonumber(redis.call('ZSCORE', K.kicked, id) or nil)
  return at ~= nil and at >= (since or R.now - KICK_TOLD_MS)
end

-- Why a ticket that is nowhere is nowhere, and its place if that is still to come; 'absent' = it may have it back.
-- The claim was checked by Python: it is what a signed ticket says.
local function judge_absent(id, claim)
  local place, epoch = string.match(claim, '^(%d+):(%d+)$')
  if not place then return 'unknown' end
  place = tonumber(place)
  epoch = tonumber(epoch)
  -- This room never had a later epoch: another deployment with the same secret gave that ticket. `doctor` tells.
  if epoch > R.epoch then R.foreign = (R.foreign or 0) + 1 end
  if epoch ~= R.epoch then return 'cleared' end
  local moved = redis.call('HGET', K.moved, id)
  -- A deferred ticket's older strings still verify: the latest place counts, or a defer could be undone.
  if moved then place = max(place, tonumber(string.match(moved, ':(%d+)$'))) end
  -- Called once, and everybody up to here with it: that turn was used, or it ran out.
  local why = place <= R.watermark and 'passed'
  -- Of whom a record elsewhere has told us, it alone says where they are.
  if not why and redis.call('HEXISTS', K.record, id) == 1 then why = 'left' end
  if not why then
    -- Who left and came again later has a later place, which a failover may have forgotten.
    local left = tonumber(redis.call('ZSCORE', K.gone, id) or nil)
    if left and left >= place then why = 'left' end
  end
  -- Up to here `gone` has forgotten who left, but who was dropped from this place has not.
  if not why and place <= R.forgotten then
    local dropped_from = tonumber(redis.call('ZSCORE', K.swept, id) or FOREVER)
    if place < dropped_from then why = 'passed' end
  end
  if why then return was_kicked(id) and 'kicked' or why end
  return is_overdue(id) and 'abandoned' or 'absent', place
end
