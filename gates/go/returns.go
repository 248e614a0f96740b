package waitroom

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

const (
	codeName      = "waitroom_code"
	longestReturn = 1500
	safeInPath    = "-._~/!$&'()*+,;=:@%"
	safeInQuery   = safeInPath + "?"
)

var codeValue = regexp.MustCompile(`^[A-Za-z0-9._~-]{16,128}$`)

// onSite returns an address without a host: one slash, the path, and the query without a code.
func onSite(path, query string) string {
	var rest []string
	for _, part := range strings.Split(query, "&") {
		if part != "" && !isCode(part) {
			rest = append(rest, part)
		}
	}
	text := "/" + quoted(strings.TrimLeft(path, `/\`), safeInPath)
	if len(rest) > 0 {
		text += "?" + quoted(strings.Join(rest, "&"), safeInQuery)
	}
	return text
}

// returnTo returns the address to come back to: always on this site.
func returnTo(site, path, query string) string {
	for _, address := range []string{site + onSite(path, query), site + onSite(path, "")} {
		if len(address) <= longestReturn {
			return address
		}
	}
	return site + "/"
}

func waitingPage(publicURL, room, back string) string {
	return publicURL + "/rooms/" + url.PathEscape(room) + "?return=" + url.QueryEscape(back)
}

// codeOf returns the one-time code in a query, or nothing.
func codeOf(query string) string {
	for _, part := range strings.Split(query, "&") {
		if name, value, _ := strings.Cut(part, "="); name == codeName && codeValue.MatchString(value) {
			return value
		}
	}
	return ""
}

// isCode tells whether a part of a query is a code, however it is spelled.
func isCode(part string) bool {
	name, _, _ := strings.Cut(part, "=")
	return strings.ToLower(strings.TrimSpace(unescaped(strings.ReplaceAll(name, "+", " ")))) == codeName
}

func quoted(text, safe string) string {
	var made strings.Builder
	for at := 0; at < len(text); at++ {
		char := text[at]
		isWord := char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' || char == '_'
		if isWord || strings.IndexByte(safe, char) >= 0 {
			made.WriteByte(char)
		} else {
			fmt.Fprintf(&made, "%%%02X", char)
		}
	}
	return made.String()
}
