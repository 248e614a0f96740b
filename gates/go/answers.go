package waitroom

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
)

const awayPage = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5"><title>One moment, please</title><h1>One moment, please</h1>
<p>The waiting room cannot be reached. This page tries again by itself.</p>`

const handOverPage = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>One moment, please</title><h1>One moment, please</h1>
<form method="post" action="%s"><input type="hidden" name="claim" value="%s"><button>Go to the waiting room</button></form>
<script nonce="%s">document.forms[0].submit()</script>`

var titles = map[int]string{400: "The request cannot be read", 429: "Please wait", 503: "Not available for a moment"}

func redirect(w http.ResponseWriter, location string, cookies ...string) {
	for _, cookie := range cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	w.Header().Set("Location", location)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}

// handOver sends a browser to the waiting page with a claim: in the body of a form, never in an address. The waiting
// page learns our origin and no more.
func handOver(w http.ResponseWriter, action, claim string, cookies ...string) {
	random := make([]byte, 16)
	target, err := url.Parse(action)
	if _, failed := rand.Read(random); failed != nil || err != nil {
		http.Error(w, "no random numbers", http.StatusInternalServerError)
		return
	}
	nonce := base64.RawURLEncoding.EncodeToString(random)
	for _, cookie := range cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'; form-action "+
		target.Scheme+"://"+target.Host+"; base-uri 'none'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "strict-origin")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	send(w, http.StatusOK, "text/html; charset=utf-8", fmt.Sprintf(handOverPage, html.EscapeString(action), claim, nonce))
}

func problem(w http.ResponseWriter, status int, code, detail string, extra map[string]string) {
	document := map[string]interface{}{}
	for name, value := range extra {
		document[name] = value
	}
	document["type"], document["title"], document["status"] = "about:blank", titles[status], status
	document["detail"], document["code"] = detail, code
	body, err := json.Marshal(document)
	if err != nil {
		body = nil
	}
	if status != http.StatusBadRequest {
		w.Header().Set("Retry-After", "5")
	}
	send(w, status, "application/problem+json", string(body))
}

func away(w http.ResponseWriter, program bool) {
	if program {
		problem(w, http.StatusServiceUnavailable, "waitroom_away", "the waiting room cannot be reached; try again", nil)
		return
	}
	w.Header().Set("Retry-After", "5")
	send(w, http.StatusServiceUnavailable, "text/html; charset=utf-8", awayPage)
}

func send(w http.ResponseWriter, status int, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a visitor who has gone needs no answer
}

// cookie returns a cookie for this host only; an age of 0 removes it.
func (g *Gate) cookie(name, value string, ageS int64) string {
	text := fmt.Sprintf("%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d", name, value, ageS)
	if g.secure {
		return "__Host-" + text + "; Secure"
	}
	return text
}
