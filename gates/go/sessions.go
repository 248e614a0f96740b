package waitroom

import (
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	checked    = time.Second     // how long a strict gate trusts a reply
	watchEvery = 5 * time.Second // how often a gate checks whether a room has lost its state
	tidyEvery  = time.Second
	retryAfter = 5 * time.Second
	most       = 20_000
	mostPasses = 50 // passes announced in one call
)

type seenPass struct {
	pass *Pass
	keys *keySet
}

type check struct {
	until time.Time
	done  chan struct{}
	good  bool
}

type renewal struct {
	again time.Time // zero: never again
	fresh *Pass
}

// sessions are those that a gate has seen: it verifies, checks, renews, finishes and announces them.
type sessions struct {
	remote *remote
	keys   *keys
	rooms  []string

	mutex    sync.Mutex
	seen     map[string]seenPass
	ended    map[string]bool
	refused  map[string]bool
	checks   map[string]*check
	renewals map[string]renewal
	owed     map[string]*Pass // passes that Waitroom does not know of yet
	tidyAt   time.Time
	watchAt  time.Time
}

func newSessions(remote *remote, keys *keys, rooms []string) *sessions {
	return &sessions{
		remote: remote, keys: keys, rooms: rooms,
		seen: map[string]seenPass{}, ended: map[string]bool{}, refused: map[string]bool{},
		checks: map[string]*check{}, renewals: map[string]renewal{}, owed: map[string]*Pass{},
	}
}

// read returns the pass in a text, if it is valid for a room now.
func (s *sessions) read(room, text string) *Pass {
	kid := kidOf(text)
	if kid == "" {
		return nil
	}
	keys, now := s.keys.forKid(kid), time.Now()
	s.mutex.Lock()
	known := s.seen[text]
	s.mutex.Unlock()
	if known.keys != keys {
		pass := keys.verify(text, now)
		if pass == nil {
			return nil
		}
		known = seenPass{pass, keys}
		s.mutex.Lock()
		put(s.seen, text, known)
		s.mutex.Unlock()
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if known.pass.Room != room || known.pass.isOver(now) || s.ended[known.pass.key()] {
		return nil
	}
	return known.pass
}

// goesOn asks whether a session is still valid. Without an answer the last refusal stands; without one,
// signature and end decide.
func (s *sessions) goesOn(pass *Pass) bool {
	s.mutex.Lock()
	known := s.checks[pass.text]
	mine := known == nil || time.Now().After(known.until)
	if mine {
		known = &check{until: time.Now().Add(checked), done: make(chan struct{})}
		put(s.checks, pass.text, known)
	}
	s.mutex.Unlock()
	if mine {
		known.good = s.check(pass)
		close(known.done)
	}
	<-known.done
	return known.good
}

func (s *sessions) check(pass *Pass) bool {
	var answer reply
	if s.keys.knownAway() {
		answer.why = down
	} else {
		answer = s.remote.ask(http.MethodGet, "/v1/check?room="+url.QueryEscape(pass.Room), pass.text, nil, s.remote.deadline)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if answer.isVerdict() && answer.status == http.StatusNoContent {
		delete(s.refused, pass.key())
	} else if answer.isVerdict() {
		put(s.refused, pass.key(), true)
	}
	return !s.refused[pass.key()]
}

// renew starts to renew a session, unless that was just tried.
func (s *sessions) renew(pass *Pass) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	known, tried := s.renewals[pass.text]
	if tried && (known.again.IsZero() || time.Now().Before(known.again)) {
		return
	}
	put(s.renewals, pass.text, renewal{again: time.Now().Add(retryAfter)})
	go func() {
		answer := s.remote.ask(http.MethodPost, "/v1/passes/renew", pass.text, nil, 4*s.remote.deadline)
		if !answer.isVerdict() {
			return
		}
		var given struct{ Pass string }
		_ = json.Unmarshal(answer.body, &given) // a refusal has no pass
		fresh := (*Pass)(nil)
		if given.Pass != "" && given.Pass != pass.text {
			fresh = s.read(pass.Room, given.Pass)
		}
		if fresh != nil && fresh.Session != pass.Session {
			fresh = nil
		}
		s.mutex.Lock()
		put(s.renewals, pass.text, renewal{fresh: fresh})
		s.mutex.Unlock()
	}()
}

// renewed returns the pass that replaces this one, if any.
func (s *sessions) renewed(pass *Pass) *Pass {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.renewals[pass.text].fresh
}

// finish ends a session: here at once, at Waitroom as soon as it learns of it.
func (s *sessions) finish(pass *Pass) {
	s.mutex.Lock()
	put(s.ended, pass.key(), true)
	put(s.owed, pass.text, pass)
	s.mutex.Unlock()
	go s.tellFinished(pass)
}

func (s *sessions) tellFinished(pass *Pass) {
	if s.remote.ask(http.MethodPost, "/v1/passes/finish", pass.text, nil, 4*s.remote.deadline).isVerdict() {
		s.mutex.Lock()
		delete(s.owed, pass.text)
		s.mutex.Unlock()
	}
}

// tidy does what is due, about once a second while requests come; nobody waits for it.
func (s *sessions) tidy() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := time.Now()
	if now.Before(s.tidyAt) {
		return
	}
	s.tidyAt = now.Add(tidyEvery)
	if s.keys.knownAway() {
		return
	}
	count := 0
	for _, pass := range s.owed {
		if count++; count > mostPasses {
			break
		}
		go s.tellFinished(pass)
	}
	if len(s.seen) > 0 && !now.Before(s.watchAt) {
		s.watchAt = now.Add(watchEvery)
		for _, room := range s.rooms {
			go s.watch(room)
		}
	}
}

// watch tells a Waitroom that lost its state which sessions are still valid, so that no place is given twice.
func (s *sessions) watch(room string) {
	answer := s.remote.ask(http.MethodGet, "/v1/rooms/"+url.PathEscape(room), "", nil, 4*s.remote.deadline)
	var given struct{ Holding bool }
	if answer.why != answered || answer.status != http.StatusOK || json.Unmarshal(answer.body, &given) != nil || !given.Holding {
		return
	}
	texts := s.live(room)
	for len(texts) > 0 {
		batch := texts
		if len(batch) > mostPasses {
			batch = batch[:mostPasses]
		}
		texts = texts[len(batch):]
		body := map[string][]string{"passes": batch}
		if !s.remote.ask(http.MethodPost, "/v1/passes/announce", "", body, 20*s.remote.deadline).isVerdict() {
			return // the next check, in some seconds, tries again
		}
	}
}

// live returns the newest pass of each session of a room.
func (s *sessions) live(room string) []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	newest, now := map[string]*Pass{}, time.Now().Unix()
	for _, known := range s.seen {
		pass := known.pass
		if pass.Room != room || pass.Session == "0" || pass.expiresS <= now || s.ended[pass.key()] {
			continue
		}
		if old := newest[pass.Session]; old == nil || old.expiresS < pass.expiresS {
			newest[pass.Session] = pass
		}
	}
	texts := make([]string, 0, len(newest))
	for _, pass := range newest {
		texts = append(texts, pass.text)
	}
	return texts
}

// put remembers an entry; half of them are dropped if there are too many.
func put[V any](known map[string]V, key string, value V) {
	if len(known) >= most {
		for old := range known {
			if delete(known, old); len(known) <= most/2 {
				break
			}
		}
	}
	known[key] = value
}
