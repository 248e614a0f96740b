package waitroom

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"sync"
)

type visitKey struct{}

// Visit is a request that goes on to the site.
type Visit struct {
	Pass *Pass // nil if none was needed

	gate  *Gate
	ends  bool
	mutex sync.Mutex
	done  bool
}

// VisitOf returns the visit of a request that was let in by its pass; else nil.
func VisitOf(r *http.Request) *Visit {
	visit, _ := r.Context().Value(visitKey{}).(*Visit)
	return visit
}

// Finish ends the session, before anything is written: its place goes to the next person. It does not wait for the call.
func (v *Visit) Finish() {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.Pass != nil && !v.done {
		v.done = true
		v.gate.sessions.finish(v.Pass)
	}
}

// cookies returns the cookies to add to the site's answer.
func (v *Visit) cookies(status int) []string {
	if v.ends && status < 400 {
		v.Finish()
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.done {
		return []string{
			v.gate.cookie("waitroom-pass-"+v.Pass.Room, "", 0),
			v.gate.cookie("waitroom-ticket-"+v.Pass.Room, "", 0),
		}
	}
	if fresh := v.gate.sessions.renewed(v.Pass); fresh != nil {
		return []string{v.gate.passCookie(fresh)}
	}
	return nil
}

// writer adds our cookies when the headers are sent.
type writer struct {
	http.ResponseWriter
	visit   *Visit
	carried bool
}

func (w *writer) carry(status int) {
	if w.carried || status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	w.carried = true
	for _, cookie := range w.visit.cookies(status) {
		w.Header().Add("Set-Cookie", cookie)
	}
}

func (w *writer) WriteHeader(status int) {
	w.carry(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(data []byte) (int, error) {
	w.carry(http.StatusOK)
	return w.ResponseWriter.Write(data)
}

// Flush sends what is written, for sites that stream.
func (w *writer) Flush() {
	if flusher, can := w.ResponseWriter.(http.Flusher); can {
		w.carry(http.StatusOK)
		flusher.Flush()
	}
}

// Hijack takes over the connection, for WebSockets.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	hijacker, can := w.ResponseWriter.(http.Hijacker)
	if !can {
		return nil, nil, errors.New("waitroom: this connection cannot be taken over")
	}
	return hijacker.Hijack()
}

// Unwrap is for http.ResponseController of Go 1.20 and newer.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
