-- The load of wrk: each line of a file is sent once, in a request of its own, as its body.
-- Arguments after `--`: 1 path  2 file of lines
-- Prints one line of JSON at the end.
local requests, at = {}, 0

function init(args)
  for line in io.lines(args[2]) do
    requests[#requests + 1] = string.format(
      'POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s', args[1], #line, line
    )
  end
end

function request()
  at = at + 1
  return requests[at] or wrk.format('GET', '/used-up')
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "us": %d, "errors": %d}\n', summary.requests, summary.duration,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout
  ))
end
