-- Each script is the common part, the parts that its verb needs and the verb, and is linted as the server gets it: see
-- `make lint`, which writes them to build/lua first.
std = "lua51"
read_globals = { "redis", "cjson", "cmsgpack", "KEYS", "ARGV" }
max_line_length = 120
ignore = {}

-- No verb needs every helper of a part, so those alone may be unused.
local shared = io.popen("cat src/waitroom/engine/lua/_common.lua src/waitroom/engine/lua/parts/*.lua")
for line in shared:lines() do
  local names = line:match("^local function ([%w_]+)") or line:match("^local ([%w_, ]+)")
  for name in (names or ""):gmatch("[%w_]+") do
    ignore[#ignore + 1] = "2[1-4]1/^" .. name .. "$"
  end
end
shared:close()
