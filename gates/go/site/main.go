// A site on net/http behind the gate: `WAITROOM_URL=http://127.0.0.1:8080 go run ./site`.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	waitroom "github.com/waitroom/waitroom/gates/go"
)

func main() {
	port := setting("PORT", "3000")
	deadline, err := strconv.Atoi(setting("WAITROOM_DEADLINE_MS", "250"))
	if err != nil {
		log.Fatal(err)
	}
	people := &people{users: map[string]string{}}
	options := waitroom.Options{
		URL:          setting("WAITROOM_URL", "http://127.0.0.1:8080"),
		Site:         setting("SITE", "http://127.0.0.1:"+port),
		Rules:        map[string]string{"/concert": "concert"},
		Finish:       []string{"POST /concert/order"},
		Strict:       setting("STRICT", "") == "true",
		OpenWhenAway: setting("WHEN_AWAY", "closed") == "open",
		Deadline:     time.Duration(deadline) * time.Millisecond,
	}
	claimKey := setting("CLAIM_KEY", "")
	if claimKey != "" { // every account has one place
		options.Identity = people.who
		options.ClaimKeys = map[string]string{"concert": claimKey}
	}
	gate, err := waitroom.New(options)
	if err != nil {
		log.Fatal(err)
	}
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.RequestURI, "/concert") {
			w.Header().Add("Set-Cookie", "basket=1")
		}
		if user := r.URL.Query().Get("user"); claimKey != "" && r.URL.Path == "/sign-in" && user != "" {
			people.signIn(w, user)
		}
		if r.URL.Query().Has("fail") { // a failed order
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(w, "the site, at %s\n", r.RequestURI)
	})
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: gate.Handler(site), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// people are who has signed in, by session. This site believes anybody who says who they are: yours asks for a
// password first.
type people struct {
	mutex sync.Mutex
	users map[string]string
}

func (p *people) signIn(w http.ResponseWriter, user string) {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		http.Error(w, "no random numbers", http.StatusInternalServerError)
		return
	}
	session := hex.EncodeToString(random)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.users[session] = user
	http.SetCookie(w, &http.Cookie{Name: "session", Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func (p *people) who(r *http.Request) string {
	cookie, err := r.Cookie("session")
	if err != nil {
		return ""
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.users[cookie.Value]
}

func setting(name, usual string) string {
	if text := os.Getenv(name); text != "" {
		return text
	}
	return usual
}
