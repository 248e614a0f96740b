package waitroom

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	claimKeyPrefix = "wrc_"
	claimLife      = 45 * time.Second
	claimBeginning = 5 // version and key id: a claim begins like its key
	saltSize       = 16
	claimKeySize   = claimBeginning + saltSize + 32
	claimMacSize   = 16
	accountSize    = 12
	longestUser    = 1024
)

// claimKey knows the accounts of a room and signs claims: see docs/gate-contract.md.
type claimKey struct{ head, salt, key []byte }

func newClaimKey(text string) (*claimKey, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimPrefix(text, claimKeyPrefix))
	if err != nil || !strings.HasPrefix(text, claimKeyPrefix) || len(raw) != claimKeySize || raw[0] != 1 {
		return nil, errors.New("waitroom: that is not a claim key; make one with `waitroom claim-key ROOM`")
	}
	salt, key := raw[claimBeginning:claimBeginning+saltSize], raw[claimBeginning+saltSize:]
	// Never the salt itself: with it, whoever reads a claim could try user ids.
	fingerprint := sum(salt, []byte("fingerprint"))[:saltSize]
	return &claimKey{head: append(raw[:claimBeginning:claimBeginning], fingerprint...), salt: salt, key: key}, nil
}

// account returns the account of a user of this site, which is the `sub` of their pass.
func (k *claimKey) account(room, user string) (string, error) {
	if length := utf8.RuneCountInString(user); length < 1 || length > longestUser {
		return "", fmt.Errorf("waitroom: a user's id has 1 to %d characters", longestUser)
	}
	named := sum(k.salt, []byte("account:"+room+"\x00"+user))
	return base64.RawURLEncoding.EncodeToString(named[:accountSize]), nil
}

// claim says that its bearer is an account of a room; each counts once.
func (k *claimKey) claim(room, account string, now time.Time) (string, error) {
	nonce := make([]byte, 8)
	if _, err := rand.Read(nonce); err != nil {
		return "", err
	}
	return k.claimWith(room, account, now, nonce)
}

func (k *claimKey) claimWith(room, account string, now time.Time, nonce []byte) (string, error) {
	id, err := base64.RawURLEncoding.DecodeString(account)
	if err != nil {
		return "", err
	}
	signed := append([]byte{}, k.head...)
	signed = binary.BigEndian.AppendUint32(signed, uint32(now.Add(claimLife).Unix()))
	signed = append(append(append(signed, nonce...), id...), room...)
	return base64.RawURLEncoding.EncodeToString(append(signed, sum(k.key, signed)[:claimMacSize]...)), nil
}

func sum(key, data []byte) []byte {
	made := hmac.New(sha256.New, key)
	made.Write(data)
	return made.Sum(nil)
}

// readClaimKeys reads a key for each room; without Identity there is none.
func (g *Gate) readClaimKeys() error {
	given := g.options.ClaimKeys
	if (g.options.Identity == nil) != (given == nil) {
		return errors.New("waitroom: Identity and ClaimKeys belong together; give both or neither")
	}
	g.claimKeys = map[string]*claimKey{}
	for room, text := range given {
		key, err := newClaimKey(text)
		if err != nil {
			return err
		}
		g.claimKeys[room] = key
	}
	for _, room := range g.rooms {
		if given != nil && (g.claimKeys[room] == nil || len(given) != len(g.rooms)) {
			return fmt.Errorf("waitroom: ClaimKeys has the key of each room, %q too, and no other", room)
		}
	}
	return nil
}

// account returns the account in a room of who has signed in; "" of who has not.
func (g *Gate) account(f *facts, room string) string {
	key := g.claimKeys[room]
	if key == nil || f.user == "" {
		return ""
	}
	account, err := key.account(room, f.user)
	if err != nil {
		return "-" // no pass is theirs, and no claim can be signed
	}
	return account
}
