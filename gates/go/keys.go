package waitroom

import (
	"net/http"
	"sync"
	"time"
)

const (
	fresh          = 3 * time.Second        // a removed key is refused after this
	pause          = 200 * time.Millisecond // between two fetches: forgers name keys that do not exist
	rest           = time.Second            // after a fetch that failed
	awayAfter      = 3 * time.Second        // after this time a late Waitroom counts as away
	fewestFailures = 3
)

// keys are the public keys of Waitroom: kept while it is away, fetched again when old or when one is missing.
type keys struct {
	remote *remote

	mutex              sync.Mutex
	set                *keySet // replaced on every change, so that passes are verified again
	document           string
	fetchedAt, triedAt time.Time
	fetching           chan struct{}
	failures           int
	silentSince        time.Time
	away               bool
}

// forKid returns the keys for a pass that names one of them.
func (k *keys) forKid(kid string) *keySet {
	set, failing, old := k.state()
	if old {
		fetching := k.fetch()
		if !failing || set.keys[kid] == nil { // otherwise pass holders do not wait
			<-fetching
		}
	}
	// A fetch under way may have started before the key existed.
	for tries := 0; tries < 2; tries++ {
		if set, failing, _ = k.state(); set.keys[kid] != nil || failing {
			break
		}
		<-k.fetch()
	}
	set, _, _ = k.state()
	return set
}

// isAway tells whether Waitroom is away. One late answer proves nothing: the network or we may be busy.
func (k *keys) isAway() bool {
	if _, _, old := k.state(); old {
		<-k.fetch()
	}
	return k.knownAway()
}

func (k *keys) knownAway() bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.away && time.Since(k.fetchedAt) > fresh
}

func (k *keys) state() (set *keySet, failing, old bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.set, k.failures > 0, time.Since(k.fetchedAt) > fresh
}

// fetch fetches the keys, unless a fetch is under way or just failed; the channel is closed at the end.
func (k *keys) fetch() <-chan struct{} {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.fetching != nil {
		return k.fetching
	}
	done := make(chan struct{})
	if k.failures > 0 && time.Since(k.triedAt) < rest {
		close(done)
		return done
	}
	k.fetching = done
	wait := pause - time.Since(k.triedAt)
	go func() {
		time.Sleep(wait)
		k.mutex.Lock()
		k.triedAt = time.Now()
		k.mutex.Unlock()
		k.heard(k.remote.ask(http.MethodGet, "/.well-known/jwks.json", "", nil, k.remote.deadline))
		close(done)
	}()
	return done
}

func (k *keys) heard(answer reply) {
	set, good := (*keySet)(nil), false
	if answer.why == answered && answer.status == http.StatusOK {
		set, good = readKeys(answer.body)
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.fetching = nil
	if good {
		if document := string(answer.body); document != k.document {
			k.set, k.document = set, document
		}
		k.fetchedAt, k.failures, k.away = time.Now(), 0, false
		return
	}
	if k.failures == 0 {
		k.silentSince = k.triedAt
	}
	k.failures++
	if answer.why == down || (k.failures >= fewestFailures && time.Since(k.silentSince) >= awayAfter) {
		k.away = true
	}
}
