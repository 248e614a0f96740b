-- Each script is the shared part followed by one verb, and is linted as the server gets it: see
-- `make lint`, which writes them to build/lua first.
std = "lua51"
read_globals = { "redis", "cjson", "cmsgpack", "KEYS", "ARGV" }
max_line_length = 120
ignore = {}

-- No verb needs every helper of the common part, so those alone may be unused.
for _, part in ipairs({"_common", "_moves", "_sources"}) do
  local file = io.open("src/waitroom/engine/lua/" .. part .. ".lua")
  for line in (file and file:lines() or function() end) do
    local names = line:match("^local function ([%w_]+)") or line:match("^local ([%w_, ]+)")
    for name in (names or ""):gmatch("[%w_]+") do
      ignore[#ignore + 1] = "2[1-4]1/^" .. name .. "$"
    end
  end
  if file then file:close() end
end
