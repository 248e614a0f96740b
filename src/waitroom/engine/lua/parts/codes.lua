-- Entry codes: who used one, whether it is still good, and giving a use back.
--
-- A code is known by its name, batch and serial. Python has checked its MAC, so a name that comes here is one that we
-- made. A ticket holds its code until it is called: up to then, leaving gives the use back.
-- Needs: nothing.

local BATCH = 4 -- letters of a name that are its batch; `codes` counts the uses of a batch under them

local shown, users, revoked_batches, newly_used, holders, uses_by_batch = {}, {}, {}, {}, {}, {}

-- Read, in one command, who used the codes ('name:uses', '' = none) that stand in every `step`-th of ARGV.
local function read_codes(first, step)
  local names = {}
  for i = first, #ARGV, step do
    local code = ARGV[i]
    if code ~= '' and not shown[code] then
      local at = string.find(code, ':', 1, true)
      shown[code] = {name = string.sub(code, 1, at - 1), uses = tonumber(string.sub(code, at + 1))}
      names[#names + 1] = shown[code].name
    end
  end
  if #names == 0 then return end
  local ids = redis.call('HMGET', K.codes, unpack(names))
  for i, name in ipairs(names) do users[name] = ids[i] or '' end -- kept right while this call adds to them
end

local function is_revoked(batch)
  if revoked_batches[batch] == nil then
    revoked_batches[batch] = redis.call('HEXISTS', K.batches, batch .. ':revoked') == 1
  end
  return revoked_batches[batch]
end

-- Why a newcomer gets no place with this code, or nil. Whoever holds it needs no further use; whoever was called with
-- it has had their turn.
local function judge_code(id, code)
  if code == '' then return R.p.needs == 'code' and 'code_required' or nil end
  local name, uses = shown[code].name, shown[code].uses
  if is_revoked(string.sub(name, 1, BATCH)) then return 'code_revoked' end
  local ids = users[name]
  if ids == '' then return end
  if string.find(ids, id, 1, true) then
    if holders[id] == name or redis.call('HGET', K.coded, id) == name then return end
    return 'code_used'
  end
  if #ids + 1 >= uses * (#id + 1) then return 'code_used' end
end

-- Use a code; written by `save_codes`. A ticket that is called at once never holds it. For somebody who gets back a
-- place, the room may have forgotten the use, and no limit applies.
local function take_code(id, code, called)
  if code == '' then return end
  local name = shown[code].name
  if not called then holders[id] = name end
  local ids = users[name]
  if string.find(ids, id, 1, true) then return end
  local batch = string.sub(name, 1, BATCH)
  users[name] = ids == '' and id or ids .. ' ' .. id
  newly_used[name], uses_by_batch[batch] = true, (uses_by_batch[batch] or 0) + 1
end

-- Write what was used, once per call.
local function save_codes()
  local args = {}
  for name in pairs(newly_used) do args[#args + 1], args[#args + 2] = name, users[name] end
  if #args > 0 then redis.call('HSET', K.codes, unpack(args)) end
  for batch, n in pairs(uses_by_batch) do redis.call('HINCRBY', K.codes, batch, n) end
  args = {}
  for id, name in pairs(holders) do args[#args + 1], args[#args + 2] = id, name end
  if #args > 0 then redis.call('HSET', K.coded, unpack(args)) end
end
