package waitroom

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"testing"
	"time"
)

// The vectors of the contract: docs/gate-contract.md.
func vectors(t *testing.T, name string, into interface{}) {
	t.Helper()
	data, err := os.ReadFile("../../contract/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func keysOf(t *testing.T, document json.RawMessage) *keySet {
	t.Helper()
	set, good := readKeys(document)
	if !good || len(set.keys) == 0 {
		t.Fatal("no keys")
	}
	return set
}

func TestPasses(t *testing.T) {
	var given struct {
		Now   int64 `json:"now_s"`
		Jwks  json.RawMessage
		Cases []struct {
			Name, Room, Pass string
			Good             bool
		}
	}
	vectors(t, "passes", &given)
	set := keysOf(t, given.Jwks)
	for _, one := range given.Cases {
		pass := set.verify(one.Pass, time.Unix(given.Now, 0))
		if good := pass != nil && pass.Room == one.Room; good != one.Good {
			t.Errorf("%s: %v", one.Name, good)
		}
	}
}

func TestPaths(t *testing.T) {
	var given struct {
		Tables []struct {
			Rules       map[string]string
			BypassPaths []string `json:"bypass_paths"`
		}
		Cases []struct {
			Table   int
			Path    string
			Room    string
			Refused bool
		}
	}
	vectors(t, "paths", &given)
	for _, one := range given.Cases {
		rules := given.Tables[one.Table]
		gate := newGate(t, Options{Rules: rules.Rules, BypassPaths: rules.BypassPaths})
		where, readable := gate.table.match("GET", one.Path)
		room := ""
		if where != nil {
			room = where.room
		}
		if room != one.Room || readable == one.Refused {
			t.Errorf("%.80q: %q %v", one.Path, room, readable)
		}
	}
}

func TestReturns(t *testing.T) {
	var given struct {
		Site, Room string
		PublicURL  string `json:"public_url"`
		Cases      []struct{ Path, Query, Return, Page string }
		Codes      []struct{ Query, Code, Clean string }
	}
	vectors(t, "returns", &given)
	for _, one := range given.Cases {
		if back := returnTo(given.Site, one.Path, one.Query); back != one.Return {
			t.Errorf("%.80q: %q", one.Path, back)
		}
		if page := waitingPage(given.PublicURL, given.Room, one.Return); page != one.Page {
			t.Errorf("%.80q: %q", one.Return, page)
		}
	}
	for _, one := range given.Codes {
		if code := codeOf(one.Query); code != one.Code {
			t.Errorf("%q: %q", one.Query, code)
		}
		if clean := onSite("/concert", one.Query); one.Code != "" && clean != one.Clean {
			t.Errorf("%q: %q", one.Query, clean)
		}
	}
}

func TestAddresses(t *testing.T) {
	var given struct {
		Cases []struct {
			Proxies       []string
			Peer, Visitor string
			ForwardedFor  string `json:"forwarded_for"`
		}
	}
	vectors(t, "addresses", &given)
	for _, one := range given.Cases {
		proxies, err := newNetworks(one.Proxies)
		if err != nil {
			t.Fatal(err)
		}
		if visitor := proxies.visitor(one.Peer, one.ForwardedFor); visitor != one.Visitor {
			t.Errorf("%s, %q: %s", one.Peer, one.ForwardedFor, visitor)
		}
	}
}

func TestClaims(t *testing.T) {
	var given struct {
		Now  int64 `json:"now_s"`
		Keys []struct {
			Key  string
			Good bool
		}
		Cases  []struct{ Key, Room, User, Account string }
		Claims []struct{ Key, Room, Account, Nonce, Claim string }
	}
	vectors(t, "claims", &given)
	for _, one := range given.Keys {
		if _, err := newClaimKey(one.Key); (err == nil) != one.Good {
			t.Errorf("%q: %v", one.Key, err)
		}
	}
	for _, one := range given.Cases {
		key, _ := newClaimKey(one.Key)
		if account, err := key.account(one.Room, one.User); account != one.Account || err != nil {
			t.Errorf("%.20q: %s, %v", one.User, account, err)
		}
	}
	for _, one := range given.Claims {
		key, _ := newClaimKey(one.Key)
		nonce, _ := base64.RawURLEncoding.DecodeString(one.Nonce)
		if claim, err := key.claimWith(one.Room, one.Account, time.Unix(given.Now, 0), nonce); claim != one.Claim || err != nil {
			t.Errorf("%s: %s, %v", one.Room, claim, err)
		}
	}
}

type optionsOf struct {
	Rules       map[string]string
	BypassPaths []string `json:"bypass_paths"`
	Finish      []string
	Renew       bool
}

func TestDecisions(t *testing.T) {
	var given struct {
		Now       int64 `json:"now_s"`
		Jwks      json.RawMessage
		Site      string
		PublicURL string `json:"public_url"`
		Options   optionsOf
		ClaimKeys map[string]string `json:"claim_keys"`
		Cases     []struct {
			Name    string
			User    *string
			Options *optionsOf
			Request struct {
				Method, Path, Query string
				Headers             map[string]string
			}
			Expect map[string]interface{}
		}
	}
	vectors(t, "decisions", &given)
	set, now := keysOf(t, given.Jwks), time.Unix(given.Now, 0)
	read := func(room, text string) *Pass {
		if pass := set.verify(text, now); pass != nil && pass.Room == room {
			return pass
		}
		return nil
	}
	for _, one := range given.Cases {
		options := given.Options
		if one.Options != nil {
			options = *one.Options
		}
		user, keys, identity := "", map[string]string(nil), (func(*http.Request) string)(nil)
		if one.User != nil {
			user, keys = *one.User, given.ClaimKeys
			identity = func(*http.Request) string { return user }
		}
		gate := newGate(t, Options{
			Identity: identity, ClaimKeys: keys, PublicURL: given.PublicURL, Site: given.Site, Rules: options.Rules,
			BypassPaths: options.BypassPaths, Finish: options.Finish, NoRenew: !options.Renew,
		})
		header := http.Header{}
		for name, value := range one.Request.Headers {
			header.Set(name, value)
		}
		request := &facts{one.Request.Method, one.Request.Path, one.Request.Query, "192.0.2.1", header, user}
		if answer := told(gate.decide(request, read, now)); !reflect.DeepEqual(answer, one.Expect) {
			t.Errorf("%s: %v", one.Name, answer)
		}
	}
}

// told writes a decision as the vectors do.
func told(made decision) map[string]interface{} {
	answer := map[string]interface{}{"do": string(made.do)}
	switch made.do {
	case doRefuse:
		answer["status"] = 400.0
	case doRedeem:
		answer["code"], answer["clean"] = made.code, made.clean
	case doPass:
		answer["room"] = made.room
		if made.finish {
			answer["do"] = "finish"
		} else if made.renew {
			answer["do"] = "renew"
		}
	case doWait:
		answer["room"], answer["url"] = made.room, made.url
		if made.account != "" {
			answer["account"] = made.account
		}
		if made.program {
			answer["do"] = "program"
		}
	}
	return answer
}

func newGate(t *testing.T, options Options) *Gate {
	t.Helper()
	options.URL = "http://10.0.0.7:8080"
	if options.Site == "" {
		options.Site = "https://shop.example"
	}
	gate, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return gate
}
