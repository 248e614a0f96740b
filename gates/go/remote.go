package waitroom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

const mostRead = 1 << 20

// noAnswer says why a call has no answer: it is late, or nobody is there.
type noAnswer int

const (
	answered noAnswer = iota
	slow
	down
)

type reply struct {
	why    noAnswer
	status int
	body   []byte
}

// isVerdict tells whether an answer is about the request, not from a Waitroom that cannot answer now.
func (r reply) isVerdict() bool {
	return r.why == answered && r.status < 500 && r.status != 429 && (r.status < 300 || r.status >= 400)
}

// remote is the gate's connection to Waitroom. Every call has a deadline, and none panics.
type remote struct {
	base     string
	deadline time.Duration
	client   *http.Client
}

func newRemote(base string, deadline time.Duration) *remote {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.Proxy = nil // Waitroom is near; a proxy from the environment is for everything else
	return &remote{base, deadline, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (r *remote) ask(method, path, pass string, body interface{}, deadline time.Duration) reply {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return reply{why: down}
		}
		sent = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.base+path, sent)
	if err != nil {
		return reply{why: down}
	}
	request.Header.Set("Cache-Control", "no-cache")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if pass != "" {
		request.Header.Set("Authorization", "Bearer "+pass)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return reply{why: failure(err)}
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, mostRead))
	switch {
	case err != nil:
		return reply{why: slow}
	case response.StatusCode == http.StatusBadGateway: // from a proxy that could not reach it
		return reply{why: down}
	}
	return reply{answered, response.StatusCode, data}
}

func failure(err error) noAnswer {
	var late net.Error
	if errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &late) && late.Timeout()) {
		return slow
	}
	return down
}
