package waitroom

import (
	_ "embed"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Servers differ in how they read %2e%2e, //, ;x, \, capitals and wide letters. So a path is read in
// every way that any of them might, and is protected if one reading is.

const (
	longestPath = 8192
	mostLayers  = 6 // of encoding
	lost        = "\ufffd"
)

// The standard library has no NFKC. Two texts have the same NFKC if they have the same NFKD, for which a
// table of letters is enough; `make vectors` writes it.
//
//go:embed folding.txt
var foldingTable string

var (
	foldings   map[rune]string
	foldOnce   sync.Once
	wideEscape = regexp.MustCompile(`%[uU][0-9a-fA-F]{4}`)
	escapes    = regexp.MustCompile(`(?:%[0-9a-fA-F]{2})+`)
	slashes    = regexp.MustCompile(`[/\\]+`)
)

// place is a protected or free part of a site: the room is empty if everybody may go.
type place struct {
	path, room, method string
	parts, written     []string
}

// table holds places, the most specific first: more segments, then fewer wildcards.
type table []place

func newTable(places []place) (table, error) {
	for at, one := range places {
		text, readable := folded(one.path)
		parts := segments(text)
		if !readable || !strings.HasPrefix(one.path, "/") || contains(parts, "..") {
			return nil, fmt.Errorf("waitroom: %q is not a path that can be read in one way; it begins with /", one.path)
		}
		places[at].parts, places[at].written = parts, plainSegments(one.path)
	}
	// If a rule and a bypass have the same path, the rule wins: protecting is the safer error.
	sort.SliceStable(places, func(a, b int) bool {
		one, other := places[a], places[b]
		if len(one.parts) != len(other.parts) {
			return len(one.parts) > len(other.parts)
		}
		if stars(one.parts) != stars(other.parts) {
			return stars(one.parts) < stars(other.parts)
		}
		return one.room != "" && other.room == ""
	})
	return places, nil
}

// match returns the place of a request, or nil; false if the path is ambiguous.
func (t table) match(method, path string) (*place, bool) {
	ways := readings(path)
	if ways == nil {
		return nil, false
	}
	exact := plain(path, ways)
	var best *place
	for _, way := range ways {
		one := t.first(method, way, exact)
		if one == nil {
			continue
		}
		if best != nil && best.room != one.room {
			return nil, false // a pass for one room must not open the other
		}
		if best == nil || len(one.path) > len(best.path) {
			best = one
		}
	}
	return best, true
}

func (t table) first(method string, way, exact []string) *place {
	for at := range t {
		one := &t[at]
		if !covers(one.parts, way) || (one.method != "" && one.method != method) {
			continue
		}
		if one.room != "" {
			return one
		}
		// `/concert/HEALTH` may be a seat of that name: a bypass is for one spelling only.
		if exact != nil && covers(one.written, exact) {
			return nil
		}
	}
	return nil
}

// readings returns every way to read a path; nil if there is none.
func readings(path string) [][]string {
	if utf8.RuneCountInString(path) > longestPath {
		return nil
	}
	text, readable := folded(path)
	if !readable {
		return nil
	}
	texts := []string{text}
	if strings.Contains(text, lost) {
		texts = append(texts, strings.ReplaceAll(text, lost, ""))
	}
	ways, seen := [][]string{}, map[string]bool{}
	for _, one := range texts {
		parts := segments(one)
		for _, way := range [][]string{parts, resolved(parts)} {
			if key := strings.Join(way, "/"); !seen[key] {
				seen[key] = true
				ways = append(ways, way)
			}
		}
	}
	return ways
}

// plain returns the segments of a path with only one reading, spelled plainly; else nil.
func plain(path string, ways [][]string) []string {
	text, given := "/"+strings.Join(ways[0], "/"), strings.ToLower(path)
	if len(ways) > 1 || (text != given && text != strings.TrimSuffix(given, "/")) {
		return nil
	}
	return plainSegments(path)
}

// folded returns a path without any layer of encoding, case and look-alike spelling.
func folded(path string) (string, bool) {
	foldOnce.Do(readFoldings)
	for layer := 0; layer < mostLayers; layer++ {
		readable := true
		wide := wideEscape.ReplaceAllStringFunc(path, func(escape string) string {
			code, _ := strconv.ParseUint(escape[2:], 16, 32)
			readable = readable && (code < 0xd800 || code > 0xdfff) // half a character
			return string(rune(code))
		})
		text := letters(strings.ToValidUTF8(unescaped(wide), lost))
		if !readable || strings.IndexFunc(text, unicode.IsControl) >= 0 {
			return "", false
		}
		if text == path {
			return text, true
		}
		path = text
	}
	return "", false
}

func unescaped(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(run string) string {
		bytes := make([]byte, 0, len(run)/3)
		for at := 1; at < len(run); at += 3 {
			code, _ := strconv.ParseUint(run[at:at+2], 16, 8)
			bytes = append(bytes, byte(code))
		}
		return strings.ToValidUTF8(string(bytes), lost)
	})
}

// letters folds every letter; marks on one letter are put in one order.
func letters(text string) string {
	var runes []rune
	for _, char := range text {
		switch folding, known := foldings[char]; {
		case char < utf8.RuneSelf:
			runes = append(runes, unicode.ToLower(char))
		case char >= 0xac00 && char <= 0xd7a3: // Hangul, by the rule of Unicode
			index := char - 0xac00
			runes = append(runes, 0x1100+index/588, 0x1161+index%588/28)
			if index%28 > 0 {
				runes = append(runes, 0x11a7+index%28)
			}
		case known:
			runes = append(runes, []rune(folding)...)
		default:
			runes = append(runes, char)
		}
	}
	for from := 0; from < len(runes); from++ {
		to := from
		for to < len(runes) && unicode.Is(unicode.Mn, runes[to]) {
			to++
		}
		marks := runes[from:to]
		sort.Slice(marks, func(a, b int) bool { return marks[a] < marks[b] })
		from = to
	}
	return string(runes)
}

func readFoldings() {
	foldings = map[rune]string{}
	for _, line := range strings.Split(foldingTable, "\n") {
		codes := strings.Fields(line)
		if len(codes) == 0 || codes[0] == "#" {
			continue
		}
		var runes []rune
		for _, text := range codes {
			code, err := strconv.ParseUint(text, 16, 32)
			if err != nil {
				panic("waitroom: folding.txt is damaged: " + line)
			}
			runes = append(runes, rune(code))
		}
		foldings[runes[0]] = string(runes[1:])
	}
}

func segments(text string) []string {
	parts := []string{}
	for _, part := range slashes.Split(text, -1) {
		if end := strings.IndexAny(part, ";?#"); end >= 0 {
			part = part[:end]
		}
		if part = strings.TrimSpace(part); part != ".." {
			part = strings.TrimRight(part, ". ")
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func resolved(parts []string) []string {
	path := []string{}
	for _, part := range parts {
		if part != ".." {
			path = append(path, part)
		} else if len(path) > 0 {
			path = path[:len(path)-1]
		}
	}
	return path
}

func covers(wanted, parts []string) bool {
	if len(wanted) > len(parts) {
		return false
	}
	for at, part := range wanted {
		if part != "*" && part != parts[at] {
			return false
		}
	}
	return true
}

func plainSegments(path string) []string {
	return strings.FieldsFunc(path, func(char rune) bool { return char == '/' })
}

func contains(parts []string, wanted string) bool {
	for _, part := range parts {
		if part == wanted {
			return true
		}
	}
	return false
}

func stars(parts []string) int {
	count := 0
	for _, part := range parts {
		if part == "*" {
			count++
		}
	}
	return count
}
