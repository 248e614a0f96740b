// Package waitroom is the Waitroom gate for net/http: anybody with a good pass goes on, everybody else waits.
//
// Passes are checked here, with the keys that Waitroom publishes: a request needs no call. It needs only
// the standard library. docs/gate-contract.md says what every gate does.
//
//	gate, err := waitroom.New(waitroom.Options{
//		URL:   "http://waitroom.internal:8080",
//		Site:  "https://tickets.example",
//		Rules: map[string]string{"/concert": "concert"},
//	})
//	http.ListenAndServe(":3000", gate.Handler(site))
package waitroom

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"time"
)

const (
	usualDeadline  = 250 * time.Millisecond
	shortestSecret = 16
	browserS       = 604_800 // how long a browser keeps the secret that ties codes to it
)

var isSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{32}$`).MatchString

// Options say how a site is protected.
type Options struct {
	URL       string            // Waitroom, as this server reaches it
	PublicURL string            // Waitroom, as browsers reach it; URL if empty
	Site      string            // the origin of this site: people are sent back there, whatever Host says
	Rules     map[string]string // path to room; a path covers everything below it, * is any one segment

	BypassPaths     []string          // free parts below a rule
	BypassAddresses []string          // networks that need no pass
	BypassHeaders   map[string]string // headers with a secret of 16 characters or more
	Proxies         []string          // networks of proxies whose X-Forwarded-For is trusted
	Finish          []string          // paths whose answer ends the session: "POST /order" or "/thanks"
	NoRenew         bool              // do not extend sessions of active visitors
	Strict          bool              // ask Waitroom whether a session is still valid, once a second per pass
	OpenWhenAway    bool              // let newcomers in while Waitroom cannot be reached
	Deadline        time.Duration     // how long a request waits for Waitroom, per call; 250 ms if zero

	Identity  func(*http.Request) string // who has signed in, "" for nobody; asked only where that matters
	ClaimKeys map[string]string          // room to the key that `waitroom claim-key` prints; needed by Identity
}

// Gate protects a site. It is safe for use by many goroutines.
type Gate struct {
	options        Options
	site, page     string
	secure         bool
	table, ends    table
	rooms          []string
	proxies, letBy networks
	claimKeys      map[string]*claimKey
	remote         *remote
	keys           *keys
	sessions       *sessions
}

// New makes a gate, or returns what is wrong with its options.
func New(options Options) (*Gate, error) {
	site, err := url.Parse(options.Site)
	if err != nil || site.Host == "" || (site.Scheme != "http" && site.Scheme != "https") {
		return nil, fmt.Errorf("waitroom: Site %q is not an address like https://shop.example.com", options.Site)
	}
	if options.Deadline == 0 {
		options.Deadline = usualDeadline
	}
	base := strings.TrimRight(options.URL, "/")
	g := &Gate{options: options, site: site.Scheme + "://" + site.Host, secure: site.Scheme == "https"}
	if g.page = strings.TrimRight(options.PublicURL, "/"); g.page == "" {
		g.page = base
	}
	if err := g.readRules(); err != nil {
		return nil, err
	}
	if err := g.readClaimKeys(); err != nil {
		return nil, err
	}
	for name, secret := range options.BypassHeaders {
		if len(secret) < shortestSecret {
			return nil, fmt.Errorf("waitroom: the secret of %s needs %d characters or more", name, shortestSecret)
		}
	}
	if g.proxies, err = newNetworks(options.Proxies); err != nil {
		return nil, err
	}
	if g.letBy, err = newNetworks(options.BypassAddresses); err != nil {
		return nil, err
	}
	g.remote = newRemote(base, options.Deadline)
	g.keys = &keys{remote: g.remote, set: &keySet{}}
	g.sessions = newSessions(g.remote, g.keys, g.rooms)
	return g, nil
}

func (g *Gate) readRules() (err error) {
	if len(g.options.Rules) == 0 {
		return errors.New(`waitroom: Rules is empty; give the path of a room, {"/concert": "concert"}`)
	}
	var places, ends []place
	known := map[string]bool{}
	for path, room := range g.options.Rules {
		if !isRoom(room) {
			return fmt.Errorf("waitroom: %q is not the name of a room", room)
		}
		places = append(places, place{path: path, room: room})
		if !known[room] {
			known[room] = true
			g.rooms = append(g.rooms, room)
		}
	}
	sort.Slice(places, func(a, b int) bool { return places[a].path < places[b].path }) // a map has no order
	sort.Strings(g.rooms)
	for _, text := range g.options.BypassPaths {
		places = append(places, worded(text, ""))
	}
	for _, text := range g.options.Finish {
		ends = append(ends, worded(text, "finish"))
	}
	if g.table, err = newTable(places); err != nil {
		return err
	}
	g.ends, err = newTable(ends)
	return err
}

// worded reads "POST /pay" or "/thanks".
func worded(text, room string) place {
	if method, path, found := strings.Cut(text, " "); found {
		return place{path: strings.TrimSpace(path), room: room, method: strings.ToUpper(method)}
	}
	return place{path: text, room: room}
}

// Handler returns the site behind the gate. Wrap everything, including the mux: the gate has its own rules.
func (g *Gate) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// In `http://x/concert` and `*` the path is not what it seems.
		if !strings.HasPrefix(r.RequestURI, "/") {
			problem(w, http.StatusBadRequest, "unreadable_path", "this is not an address of this site", nil)
			return
		}
		visit := g.judge(w, r)
		if visit == nil {
			return
		}
		if visit.Pass == nil {
			next.ServeHTTP(w, r)
			return
		}
		writer := &writer{ResponseWriter: w, visit: visit}
		next.ServeHTTP(writer, r.WithContext(context.WithValue(r.Context(), visitKey{}, visit)))
		writer.carry(http.StatusOK) // for a site that has written nothing
	})
}

// judge answers visitors who have to wait, and returns the visit of those who go on.
func (g *Gate) judge(w http.ResponseWriter, r *http.Request) *Visit {
	f, now, refused := factsOf(r), time.Now(), false
	if g.options.Identity != nil && g.guards(f) {
		f.user = g.options.Identity(r)
	}
	decided := g.decide(f, g.sessions.read, now)
	g.sessions.tidy()
	if g.options.Strict && decided.do == doPass && !g.sessions.goesOn(decided.pass) {
		refused = true
		decided = g.decide(f, func(string, string) *Pass { return nil }, now)
	}
	switch decided.do {
	case doRefuse:
		problem(w, http.StatusBadRequest, "unreadable_path", "the path can be read in more ways than one", nil)
	case doRedeem:
		g.redeem(w, f, decided)
	case doWait:
		return g.wait(w, f, decided, refused)
	default:
		if decided.renew {
			g.sessions.renew(decided.pass)
		}
		return &Visit{gate: g, Pass: decided.pass, ends: decided.finish}
	}
	return nil
}

// guards tells whether it matters who has signed in: the path is protected, or ends a session.
func (g *Gate) guards(f *facts) bool {
	where, _ := g.table.match(f.method, f.path)
	end, _ := g.ends.match(f.method, f.path)
	return where != nil || end != nil
}

func (g *Gate) wait(w http.ResponseWriter, f *facts, wish decision, refused bool) *Visit {
	claim := ""
	if wish.account != "" {
		var err error
		if claim, err = g.claimKeys[wish.room].claim(wish.room, wish.account, time.Now()); err != nil {
			http.Error(w, "nobody can be told who this is", http.StatusInternalServerError)
			return nil
		}
	}
	switch {
	case g.keys.isAway():
		if g.options.OpenWhenAway && !refused {
			return &Visit{gate: g}
		}
		away(w, wish.program)
	case wish.program:
		join := g.page + "/v1/rooms/" + wish.room + "/tickets"
		extra := map[string]string{"room": wish.room, "join": join, "url": wish.url}
		if claim != "" {
			extra["claim"] = claim // for the body of the join
		}
		problem(w, http.StatusTooManyRequests, "waiting", "this needs a pass: join the room, then send it as Waitroom-Pass", extra)
	default:
		g.toPage(w, f, wish.url, claim)
	}
	return nil
}

// toPage sends a browser to the waiting page, with the hash of its secret, and with who it is.
func (g *Gate) toPage(w http.ResponseWriter, f *facts, page, claim string) {
	secret, cookies := g.secretOf(f), []string{}
	if secret == "" {
		random := make([]byte, 24)
		if _, err := rand.Read(random); err != nil {
			http.Error(w, "no random numbers", http.StatusInternalServerError)
			return
		}
		secret = base64.RawURLEncoding.EncodeToString(random)
		cookies = append(cookies, g.cookie("waitroom-browser", secret, browserS))
	}
	mark := sha256.Sum256([]byte("waitroom browser " + secret))
	page += "&browser=" + base64.RawURLEncoding.EncodeToString(mark[:])
	if claim == "" {
		redirect(w, page, cookies...)
		return
	}
	handOver(w, strings.Replace(page, "?", "/claim?", 1), claim, cookies...)
}

// redeem turns a one-time code from a waiting page on another host into a cookie.
func (g *Gate) redeem(w http.ResponseWriter, f *facts, wish decision) {
	clean, secret := g.site+wish.clean, g.secretOf(f)
	if secret == "" { // a code that this browser never asked for
		redirect(w, clean)
		return
	}
	body := map[string]string{"code": wish.code, "browser": secret}
	answer := g.remote.ask(http.MethodPost, "/v1/redeem", "", body, 4*g.remote.deadline)
	var given struct{ Room, Pass string }
	if answer.why == answered && answer.status == http.StatusOK && json.Unmarshal(answer.body, &given) == nil {
		if pass := g.sessions.read(given.Room, given.Pass); pass != nil {
			redirect(w, clean, g.passCookie(pass))
			return
		}
	}
	redirect(w, clean) // used, too old, or away: that address leads to the waiting page
}

// secretOf returns the secret that ties codes to a browser: somebody else's code leads nobody
// into their session.
func (g *Gate) secretOf(f *facts) string {
	name := "waitroom-browser"
	if g.secure {
		name = "__Host-" + name
	}
	for _, text := range f.cookies(name) {
		if isSecret(text) {
			return text
		}
	}
	return ""
}

func (g *Gate) passCookie(pass *Pass) string {
	left := pass.expiresS - time.Now().Unix()
	if left < 1 {
		left = 1
	}
	return g.cookie("waitroom-pass-"+pass.Room, pass.text, left)
}

func factsOf(r *http.Request) *facts {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	peer, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		peer = r.RemoteAddr
	}
	return &facts{r.Method, path, query, peer, r.Header, ""}
}
