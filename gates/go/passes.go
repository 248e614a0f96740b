package waitroom

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	algorithm   = "ES256" // Waitroom's default
	passType    = "waitroom-pass+jwt"
	leewayS     = 5
	longestPass = 2048
)

var (
	compact = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)
	isRoom  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`).MatchString
	isID    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString
	isSid   = regexp.MustCompile(`^[0-9]{1,20}$`).MatchString
	// Strict: the last character has spare bits, which would allow several spellings of one pass.
	encoding = base64.RawURLEncoding.Strict()
)

// Pass is the content of a good pass.
type Pass struct {
	Room     string
	TicketID string
	Session  string // "0" if there is none
	Expires  time.Time

	issuedS, expiresS int64
	kid, text         string
}

func (p *Pass) isOver(now time.Time) bool { return now.Unix() >= p.expiresS+leewayS }

// isLate tells whether half of the session is over.
func (p *Pass) isLate(now time.Time) bool { return 2*now.Unix() >= p.issuedS+p.expiresS }

// key names the session; a pass without one stands for itself.
func (p *Pass) key() string {
	if p.Session == "0" {
		return p.text
	}
	return p.Room + " " + p.Session
}

// keySet is what Waitroom publishes; another deployment may have the same keys, so the issuer counts.
type keySet struct {
	keys   map[string]*ecdsa.PublicKey
	issuer string
}

func readKeys(document []byte) (*keySet, bool) {
	var given struct {
		Issuer string
		Keys   []struct{ Kid, Kty, Crv, Alg, X, Y string }
	}
	if json.Unmarshal(document, &given) != nil || given.Keys == nil {
		return nil, false
	}
	set := &keySet{map[string]*ecdsa.PublicKey{}, given.Issuer}
	for _, key := range given.Keys {
		// The key fixes the algorithm, never the pass: `none` and HMAC with a public key lead nowhere.
		if key.Alg != algorithm || key.Kty != "EC" || key.Crv != "P-256" {
			continue
		}
		x, errX := encoding.DecodeString(key.X)
		y, errY := encoding.DecodeString(key.Y)
		made := &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}
		if errX == nil && errY == nil && made.Curve.IsOnCurve(made.X, made.Y) {
			set.keys[key.Kid] = made
		}
	}
	return set, true
}

// kidOf returns the key that a text names, if it looks like a pass; a site's own JWT does not.
func kidOf(text string) string {
	if len(text) > longestPass || !compact.MatchString(text) {
		return ""
	}
	head, _, _ := strings.Cut(text, ".")
	header := object(head)
	kid, _ := header["kid"].(string)
	// The algorithm that a pass claims is only compared.
	if len(header) != 3 || header["alg"] != algorithm || header["typ"] != passType {
		return ""
	}
	return kid
}

// verify returns the pass in a text at a moment; nil if there is none.
func (k *keySet) verify(text string, now time.Time) *Pass {
	kid := kidOf(text)
	key := k.keys[kid]
	if kid == "" || key == nil {
		return nil
	}
	end := strings.LastIndexByte(text, '.')
	signature, err := encoding.DecodeString(text[end+1:])
	if err != nil || len(signature) != 64 {
		return nil
	}
	hash := sha256.Sum256([]byte(text[:end]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(key, hash[:], r, s) {
		return nil
	}
	return k.read(object(strings.Split(text, ".")[1]), kid, text, now)
}

// read checks every claim of a text with a good signature.
func (k *keySet) read(claims map[string]interface{}, kid, text string, now time.Time) *Pass {
	issuer, named := claims["iss"].(string)
	room, _ := claims["aud"].(string)
	ticket, _ := claims["sub"].(string)
	sid, _ := claims["jti"].(string)
	issuedS, began := whole(claims["iat"])
	expiresS, ends := whole(claims["exp"])
	notBeforeS, good := issuedS, true
	if nbf, given := claims["nbf"]; given {
		notBeforeS, good = whole(nbf)
	}
	if !named || (k.issuer != "" && issuer != k.issuer) || !isRoom(room) || !isID(ticket) || !isSid(sid) {
		return nil
	}
	latest := now.Unix() + leewayS
	if !began || !ends || !good || issuedS > latest || notBeforeS > latest {
		return nil
	}
	sid = strings.TrimLeft(sid, "0")
	if sid == "" {
		sid = "0"
	}
	pass := &Pass{room, ticket, sid, time.Unix(expiresS, 0), issuedS, expiresS, kid, text}
	if pass.isOver(now) {
		return nil
	}
	return pass
}

// object returns the JSON object in a part of a pass; nil if there is none.
func object(part string) map[string]interface{} {
	data, err := encoding.DecodeString(part)
	if err != nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var document map[string]interface{}
	if decoder.Decode(&document) != nil {
		return nil
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil
	}
	return document
}

func whole(value interface{}) (int64, bool) {
	number, isNumber := value.(json.Number)
	if !isNumber {
		return 0, false
	}
	made, err := strconv.ParseInt(number.String(), 10, 62)
	return made, err == nil
}
