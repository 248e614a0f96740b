-- What every verb shares: the maps of KEYS, ARGV and R, the names of fields, and the form of an answer. `scripts.py`
-- puts this file before each verb's own file; between them come the parts that the verb needs, and what those need.
--
-- KEYS, the same for every verb (`keys.py` builds them; all share the hash tag {room}):
--    1 config   HASH    policy field -> value, '' = no limit; version;
--                       message_at: when its message was set (wall ms)      written by configure
--    2 meta     HASH    schema, epoch, rev, last place, watermark, pace
--                       slot, alive_at, hold_until, restoring_until,
--                       cursors, counters;
--                       foreign: tickets of another deployment;
--                       reinstatements: 'id place at' of the newest 100;
--                       salt: of the room's accounts (see parts/claims);
--                       waited_ms: how long the last one called from the
--                       head had waited, until `sample` takes it;
--                       woke_at, woke_rev: the first change after a quiet
--                       minute (ms), and `rev` before it;
--                       'turnover' -> what a record elsewhere says of it   always beside config
--    3 waiting  ZSET    id -> place: arrival in us, unique, steps of 8     removed when called or gone
--    4 seen     HASH    id -> last poll in s (room time)                   removed with `waiting`
--    5 called   ZSET    id -> enter-by in ms (room time)                   removed on enter, no-show
--    6 inside   ZSET    id -> session end in ms (room time)                removed on finish, expiry
--    7 sids     HASH    id -> session id of who is inside                  removed with `inside`
--    8 done     ZSET    sid that was ended early -> when it would have     pruned by advance
--    9 gone     ZSET    id that left, was kicked or called by hand -> its place,
--                       while that is after the watermark                  pruned by advance
--   10 moved    HASH    id -> 'defers:place' of a place other than the
--                       first ticket's; 'id;' -> what the note of `gone`
--                       with this place is: '0:place', a later one that an
--                       account gave up for it; '1:place', nobody's (see
--                       parts/strangers)                                   pruned by advance
--   11 entries  HASH    bucket start in ms -> entries in it, at most 61    pruned by enter, configure
--   12 events   STREAM  kind, at (us), n (number of the event), ids,
--                       and reason, places, sid, version, moment, from,
--                       was as fits                                        capped
--   13 series   STREAM  at (wall-clock ms), numbers, counters, waits and
--                       limits                                             capped
--   14 record   HASH    id -> revision that `settle` brought here, of who
--                       is gone 'revision:since when in s'                 pruned by settle
--   15 swept    ZSET    id that was dropped for silence -> its place,
--                       while it may come back to it                       pruned by advance
--   16 swept_at ZSET    id of these -> when, in ms; only with `return_s`   removed with `swept`
--   17 sources  ZSET    keyed hash of a network that people join from ->
--                       when its bucket of joins is full, in ms            expires
--   18 kicked   ZSET    id that an operator removed -> when, in ms (room
--                       time); FOREVER = banned                            removed on join, pruned by advance
--   19 codes    HASH    entry code (batch and serial) -> ids that used it,
--                       by blanks; batch -> how many uses of it are taken   removed by clear, drop
--   20 coded    HASH    id -> the code that it holds                        removed when called or left
--   21 batches  HASH    batch of entry codes -> JSON of what it is;
--                       'batch:revoked' -> when, in ms                      removed by drop
--   22 been     SET     id that has been inside, while the policy says
--                       `once`                                             removed by clear, drop
--   23 claims   ZSET    nonce of a gate's claim that was used -> when it
--                       expires and who used it (see parts/claims)         expires
--   24 op       STRING  the packed reply of one op_id; only with an op_id   expires
--
-- ARGV, the same for every verb; the verb's own begin at ARGV[6]:
--   1 now in us, or '' for the server's TIME        2 epoch     }
--   3 rev   4 watermark                             5 last      } what the caller has seen so far
--
-- Reply: {'waitroom/1', word, name, value, name, value, ...}; times in replies are wall-clock ms.
--
-- Room time: the server's clock plus `offset`, which grows when that clock steps back. So room time never steps back.
-- Slots, windows and deadlines all count in it.
--
-- R: the room as this call sees it. It does not outlive the call; `set` and `save` write fields of `meta` back. Times
-- are room time unless marked wall. A policy field that is nil has no limit.
--   field             unit    set by                            what it is
--   R.p               table   read_policy                       the policy as stored: name -> text, '' = no limit
--   R.version         number  read_policy, check, configure     version of the policy
--   R.message_at      wall ms configure                         when its message was set, '' = unknown
--   R.capacity        people  read_policy                       policy: called and inside at the same time
--   R.batch           people  read_policy                       policy: calls per slot of `R.every`
--   R.every           ms      read_policy                       policy: length of a slot
--   R.max_entries     people  read_policy                       policy: entries per window of `R.per`
--   R.per             ms      read_policy                       policy: length of that window
--   R.session         ms      read_policy                       policy: length of a session
--   R.longest         ms      read_policy                       policy: longest session with renewals
--   R.enter_within    ms      read_policy                       policy: how long a called ticket has its turn
--   R.presence        ms      read_policy                       policy: silence after which somebody is absent
--   R.returns         ms      read_policy                       policy: how long a dropped person may come back
--   R.recover         ms      read_policy                       policy: how long admission holds after a loss
--   R.queue_limit     people  read_policy                       policy: most people waiting
--   R.ttl             ms      read_policy                       policy: greatest age of a waiting ticket
--   R.idle            ms      read_policy                       policy: an empty room is cleaned up after this time
--   R.opens_at_ms     wall ms read_policy                       policy: opening time
--   R.ends_at_ms      wall ms read_policy                       policy: end time
--   R.max_defers      number  read_policy                       policy: how often a ticket may be deferred
--   R.once            boolean read_policy                       policy: whoever has been inside stays out
--   R.schema          number  open_room                         layout of the keys, 0 = none written yet
--   R.epoch           us      open_room, check, clear,          raised by create and clear; a ticket of an
--                             configure                         earlier epoch is worthless
--   R.rev             number  open_room, learn, save, check,    calls that changed something; a caller that
--                             configure                         saw a higher one proves a loss
--   R.last            us      open_room, learn, next_place,     highest place given out by arrival
--                             note_place, check, configure
--   R.watermark       us      open_room, learn,                 highest place called from the head
--                             raise_watermark, check, configure
--   R.forgotten       us      open_room, forget_up_to, clear    highest place that `gone` has forgotten: up to
--                                                               it, only people in `swept` may come back
--   R.slot_start      ms      open_room, pace_left              when the slot of `R.every` began
--   R.slot_count      people  open_room, pace_left, count_pace  calls in this slot
--   R.bucket_ms       ms      open_room, rekey                  width of a bucket of `entries`
--   R.alive_at        ms      open_room, keep_time, configure   last call, written once a second
--   R.polled_at       ms      open_room, note_visit             last poll or join, written once a second
--   R.silent_from     ms      open_room, give_time_back,        start of our last silence: enter-bys after it
--                             configure                         ...
--   R.grace_until     ms      open_room, give_time_back,        ... last at least until this time
--                             configure
--   R.resumed_at      ms      open_room, give_time_back,        end of that silence: presence counts from it
--                             configure
--   R.hold_until      ms      open_room, hold, configure        until then, people are called only by force or bypass
--   R.restoring_until ms      open_room, hold, configure        until then, the line may lack people, so nobody
--                                                               is told a position
--   R.offset          us      open_room, keep_time, configure   room time minus the server's clock
--   R.sweep_after     us      open_room                         place up to which the absent were swept
--   R.sweep_at        ms      open_room, advance                when the sweep continues
--   R.draw_floor      us      open_room                         places are drawn above it
--   R.draw_top        us      open_room, drawn_place,           highest place drawn
--                             note_place
--   R.draw_until      wall ms open_room, drawn_place            the opening that places were drawn for
--   R.opened          wall ms open_room                         the opening time that was reached
--   R.ended           wall ms open_room                         the end time that was reached
--   R.rebuilt         0 or 1  open_room, learn                  1 = rebuilt from a process's memory
--   R.last_sid        us      open_room, go_inside              highest session id
--   R.history_at      ms      open_room, note_history           last moment of the history of entries
--   R.active_at       ms      open_room, tell_moments           last call that changed something
--   R.dropped         ms      open_room                         when the room was dropped, 0 = it exists
--   R.changes         table   open_room, configure              name, value, ... that `save` writes to meta
--   R.counts          table   open_room, configure              counter -> how many `save` adds
--   R.foreign         number  judge_absent                      tickets of another deployment in this call, or nil
--   R.endings         table   note_ending, note_reinstated      what the caller must remember: who was taken out
--                                                               or has a place again
--   R.changed         boolean count, take_out, end_again, kick, somebody's state changed in this call, or its time came
--                             tell_moments, reinstate_again
--   R.event_no        number  open_room, event                  how many events the room has had
--   R.told            boolean event                             this call wrote events
--   R.told_opened     wall ms open_room                         the opening time that an event announced
--   R.told_ended      wall ms open_room                         the end time that an event announced
--   R.raw_ms          wall ms keep_time                         the server's clock
--   R.now             ms      keep_time, check                  room time of this call
--   R.now_us          us      keep_time                         the same, more precise
--   R.offset_ms       ms      keep_time, check                  `R.offset`: room time to wall time
--   R.mode            text    judge_mode                        `mode`, or 'ended' once the end time was reached
--   R.rests           boolean judge_mode                        closed or ended, maybe for hours: nobody is absent
--   R.before          boolean judge_mode                        the opening time is still to come
--   R.draws           boolean judge_mode                        places are drawn
--   R.hidden          boolean judge_mode                        nobody may learn the order of a draw, even
--                                                               if the policy has stopped drawing since
--   R.bypass          boolean judge_mode                        everybody enters, no limit applies
--   R.calls           boolean judge_mode                        people are called without an operator
--   R.by_hand         boolean judge_mode                        an operator may call without force
--   R.refuses         text    judge_mode                        why newcomers are refused, nil = they are not
--   R.n_waiting       people  open_room, drop_waiting,          how many wait, kept right while this call
--                             configure, join, settle,          moves them
--                             wait_at
--   R.n_called        people  live_called, mark_called,         called and in time; nil until needed
--                             go_inside, take_out, adopt
--   R.n_inside        people  live_inside, go_inside, take_out  inside and in time; nil until needed
--   R.n_entries       people  entries_in_window, note_entries   entries in the window; nil until needed
--   R.stale_buckets   table   entries_in_window, note_entries   buckets that the window has passed
--   R.window_frees_at ms      entries_in_window                 when the oldest bucket leaves the window

local SCHEMA = 1
local LIMIT = 500 -- most members that one call may move
local FOREVER = 9e15 -- the score of "no deadline": exact in a double, and after every real time
local REV_JUMP = 1000000 -- puts `rev` above every caller's after a loss, so that the loss is noticed once
local KICK_TOLD_MS = 86400000 -- people are told for a day that they were kicked
local SESSION_KEPT_MS = 86400000 -- a session without an end is known as ended for a day

local K = {
  config = KEYS[1], meta = KEYS[2], waiting = KEYS[3], seen = KEYS[4], called = KEYS[5],
  inside = KEYS[6], sids = KEYS[7], done = KEYS[8], gone = KEYS[9], moved = KEYS[10],
  entries = KEYS[11], events = KEYS[12], series = KEYS[13], record = KEYS[14],
  swept = KEYS[15], swept_at = KEYS[16], sources = KEYS[17], kicked = KEYS[18],
  codes = KEYS[19], coded = KEYS[20], batches = KEYS[21], been = KEYS[22], claims = KEYS[23], op = KEYS[24],
}
-- The type that each existing key must have. `series` is not here: only `sample` writes it, and checks it itself.
local TYPES = {
  config = 'hash', meta = 'hash', waiting = 'zset', seen = 'hash', called = 'zset', inside = 'zset',
  sids = 'hash', done = 'zset', gone = 'zset', moved = 'hash', entries = 'hash', events = 'stream',
  record = 'hash', swept = 'zset', swept_at = 'zset', sources = 'zset', kicked = 'zset',
  codes = 'hash', coded = 'hash', batches = 'hash', been = 'set', claims = 'zset', op = 'string',
}
-- A verb that writes only to these need not check the others: reading a key of the wrong type fails by itself.
local POLL_TYPES = {config = 'hash', meta = 'hash', waiting = 'zset', seen = 'hash'}
-- One HMGET reads each of these lists, in this order; Python has the same names (a test compares them).
local POLICY = {
  'version', 'mode', 'capacity', 'batch', 'every_s', 'max_entries', 'per_s', 'session_s',
  'renewable', 'longest_s', 'enter_within_s', 'presence_s', 'return_s', 'recover_s', 'queue_limit', 'ticket_ttl_s',
  'idle_ttl_s', 'opens_at_ms', 'ends_at_ms', 'before_open', 'max_defers', 'once', 'needs',
}
local META = {
  'schema', 'epoch', 'rev', 'last', 'watermark', 'slot_start', 'slot_count', 'bucket_ms',
  'alive_at', 'polled_at', 'silent_from', 'resumed_at', 'grace_until', 'hold_until', 'offset', 'sweep_after',
  'sweep_at', 'draw_floor', 'draw_top', 'draw_until', 'opened', 'ended', 'rebuilt', 'last_sid', 'history_at',
  'active_at', 'dropped', 'forgotten', 'restoring_until', 'event_no', 'told_opened', 'told_ended',
}
-- Lifetime counters grow by HINCRBY and are read only where they are shown: no call needs their sum.
local COUNTERS = {
  'joined', 'restored', 'called_total', 'entered', 'finished', 'left', 'kicked', 'expired',
  'no_show', 'abandoned', 'deferred', 'reinstated',
}

local floor, max, min = math.floor, math.max, math.min
local R = {} -- see the map above

-- An answer without epoch and rev: the room was not read, so there is nothing to remember about it.
local function failed(word, ...)
  return {'waitroom/1', word, ...}
end

-- Every other answer begins with what a process remembers of the room, to bring it back after a loss.
local function reply(word, ...)
  return {
    'waitroom/1', word, 'epoch', R.epoch, 'rev', R.rev, 'watermark', R.watermark, 'last', R.last,
    'version', R.version, 'now', R.now - R.offset_ms, ...,
  }
end

-- A room time as wall-clock time for the visitor; 0 = none.
local function wall(room_ms)
  if room_ms >= FOREVER then return 0 end
  return room_ms - R.offset_ms
end

-- Fields of meta are collected and written once, by `save`: until then a script can end without a trace.
local function set(field, value)
  R.changes[#R.changes + 1] = field
  R.changes[#R.changes + 1] = value
end
