package waitroom

import (
	"crypto/subtle"
	"net/http"
	"strings"
	"time"
)

const mostTried = 4 // cookies that one request may show

// facts are what is known about a request. Path and query are as received.
type facts struct {
	method, path, query, peer string
	header                    http.Header
	user                      string // who has signed in, "" if nobody or if the gate cannot know
}

func (f *facts) get(name string) string { return strings.Join(f.header.Values(name), ", ") }

func (f *facts) isSafe() bool { return f.method == http.MethodGet || f.method == http.MethodHead }

// cookies returns all cookies with a name, in order: another page may have set a second one.
func (f *facts) cookies(name string) []string {
	var values []string
	for _, part := range strings.Split(strings.Join(f.header.Values("Cookie"), ";"), ";") {
		if key, value, _ := strings.Cut(strings.TrimSpace(part), "="); key == name && value != "" {
			values = append(values, strings.Trim(value, ` "`))
		}
	}
	return values
}

type verb string

const (
	doFree   verb = "free"
	doPass   verb = "pass"
	doWait   verb = "wait"
	doRedeem verb = "redeem"
	doRefuse verb = "refuse"
)

// decision is what happens to a request. It makes no calls; the gate does.
type decision struct {
	do            verb
	pass          *Pass
	renew, finish bool
	room, url     string
	program       bool
	account       string
	code, clean   string
}

// decide decides about a request; read returns the pass in a text, if it is valid for a room.
func (g *Gate) decide(f *facts, read func(room, text string) *Pass, now time.Time) decision {
	where, readable := g.table.match(f.method, f.path)
	if !readable {
		return decision{do: doRefuse}
	}
	if code := codeOf(f.query); where != nil && f.isSafe() && code != "" {
		return decision{do: doRedeem, code: code, clean: onSite(f.path, f.query)}
	}
	end, _ := g.ends.match(f.method, f.path)
	if where == nil && end == nil {
		return decision{do: doFree}
	}
	rooms := g.rooms
	if where != nil {
		rooms = []string{where.room}
	}
	for _, room := range rooms {
		account := g.account(f, room)
		for _, text := range shown(f, room) {
			// Who has signed in has the pass of their account, or one without a session, of a minute in which Redis was away.
			if pass := read(room, text); pass != nil && (account == "" || pass.TicketID == account || pass.Session == "0") {
				late := !g.options.NoRenew && pass.isLate(now) && pass.Session != "0" && end == nil
				return decision{do: doPass, pass: pass, room: room, renew: late, finish: end != nil}
			}
		}
	}
	if where == nil || g.goesBy(f) {
		return decision{do: doFree}
	}
	path, query := f.path, f.query
	if !f.isSafe() { // a form cannot be sent again from the waiting page
		path, query = where.path, ""
		if strings.Contains(path, "*") {
			path = "/"
		}
	}
	page := waitingPage(g.page, where.room, returnTo(g.site, path, query))
	return decision{do: doWait, room: where.room, url: page, program: isProgram(f), account: g.account(f, where.room)}
}

// shown returns the texts that may be passes.
func shown(f *facts, room string) []string {
	texts := append(f.cookies("__Host-waitroom-pass-"+room), f.cookies("waitroom-pass-"+room)...)
	if len(texts) > mostTried {
		texts = texts[:mostTried]
	}
	if text := f.get("Waitroom-Pass"); text != "" {
		texts = append(texts, text)
	}
	if kind, token, _ := strings.Cut(f.get("Authorization"), " "); strings.EqualFold(kind, "bearer") {
		texts = append(texts, strings.TrimSpace(token))
	}
	return texts
}

// isProgram tells whether the client is a program, which cannot use a page.
func isProgram(f *facts) bool {
	for _, name := range []string{"X-Requested-With", "Waitroom-Pass", "Waitroom-Ticket", "Waitroom-Key"} {
		if f.get(name) != "" {
			return true
		}
	}
	accept := strings.ToLower(f.get("Accept"))
	return strings.Contains(accept, "json") && !strings.Contains(accept, "text/html")
}

// goesBy tells whether a request needs no pass: by address, by a secret header, or as a CORS preflight,
// which browsers send without cookies.
func (g *Gate) goesBy(f *facts) bool {
	for name, secret := range g.options.BypassHeaders {
		if subtle.ConstantTimeCompare([]byte(f.get(name)), []byte(secret)) == 1 {
			return true
		}
	}
	if visitor, known := address(g.proxies.visitor(f.peer, f.get("X-Forwarded-For"))); known && g.letBy.contain(visitor) {
		return true
	}
	return f.method == http.MethodOptions && f.get("Access-Control-Request-Method") != "" && f.get("Origin") != ""
}
