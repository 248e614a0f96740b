-- The load of wrk: text, a random line of a file, text; or the same text each time.
-- Arguments after `--`: 1 text before the line  2 text after it  3 file of lines, or nothing
-- Prints one line of JSON at the end.
local before, after
local lines = {}

function init(args)
  before, after = args[1], args[2]
  if args[3] then
    for line in io.lines(args[3]) do
      lines[#lines + 1] = line
    end
  end
  math.randomseed(os.time() * 1000 + os.clock() * 1e6 % 1000)
end

function request()
  if #lines == 0 then
    return before .. after
  end
  return before .. lines[math.random(#lines)] .. after
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "us": %d, "status": %d, "socket": %d, "timeout": %d, "p99_us": %d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write, errors.timeout, latency:percentile(99)
  ))
end
