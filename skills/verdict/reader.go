package verdict

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A reader matches rules with one file. Sets that several rules share are looked for once.
type reader struct {
	file   *surface.File
	prose  string // the text in one line
	hidden string // the content, if it has hidden characters
	// announced reports that the skill's definition says that something stays after a run.
	announced bool
	seen      map[key][]int
	has       *[1 << 16]bool // the trigrams of prose, by hash
}

// A key is a set of passages, by its first, in code or in all of a text.
type key struct {
	set  *string
	code bool
}

// builds matches files that build tools execute, scanners rules of one, samples texts for tests.
var (
	builds   = lazyregexp.New(`(?i)(?:^|/)(?:[^./]+|cmakelists\.txt|requirements\.txt)$|\.(?:xml|svg|tex)$`)
	scanners = lazyregexp.New(`(?i)\.(?:yara?|rules|sigma)$`)
	samples  = lazyregexp.New(`(?i)(?:^|[/_-])(?:tests?|testdata|fixtures?|samples?|payloads?|phrases|corpus|iocs?|signatures|attacks?|injections?)[./_-]`)
)

func newReader(file *surface.File) *reader {
	r := &reader{file: file, prose: strings.ReplaceAll(file.Lower, "\n", " "), seen: map[key][]int{}, has: &[1 << 16]bool{}}
	for i := 2; i < len(r.prose); i++ {
		r.has[trigram(r.prose[i-2:])] = true
	}
	if !file.Script && builds.MatchString(file.Name) {
		file.Script, file.Code = true, file.Lower
	}
	file.Script = file.Script && !scanners.MatchString(file.Name)
	for _, item := range file.Items {
		if item.Kind == surface.Hidden {
			r.hidden = file.Content
		}
	}
	return r
}

// severity returns the severity that a match has in the file; "" is none.
func (r *reader) severity(m *match) Severity {
	switch {
	case r.file.Script:
		return m.Severity[0]
	case r.file.Main:
		return m.Severity[1]
	}
	return m.Severity[2]
}

// find returns the offset of the first match; -1 without one.
func (r *reader) find(m *match) int {
	if m.hidden != nil {
		if at := m.hidden.FindStringSubmatchIndex(r.hidden); at != nil {
			return at[0]
		}
		return -1
	}
	code := m.Code || r.file.Script && !m.Spoken
	missing := func(set []string) bool { return len(r.places(set, code)) == 0 }
	if slices.ContainsFunc(m.Near, missing) || slices.ContainsFunc(m.Order, missing) || slices.ContainsFunc(m.Also, missing) {
		return -1
	}
	var sources []int
	for _, at := range r.places(m.Near[0], code) {
		far := func(set []string) bool {
			return !slices.ContainsFunc(r.places(set, code), func(other int) bool { return r.near(at, other, m.Within) })
		}
		if slices.ContainsFunc(m.Near[1:], far) || !r.ordered(m.Order, at, code) {
			continue
		}
		text := r.around(r.file.Lower, at, m.Within)
		if (m.unless == nil || !m.unless.MatchString(text)) && (m.wants == nil || m.wants.MatchString(text)) {
			if !m.Flow {
				return at
			}
			sources = append(sources, at)
		}
	}
	return r.executed(sources)
}

// sentenceLength bounds the distance in bytes of two passages of a sentence.
const sentenceLength = 160

var sentenceEnd = lazyregexp.New(`[.!?:;][*_"')]*\s|[。；，]|\n\s*(?:[^\w\s"'(<&]|\d+\.|\n)`)

// ordered reports whether passages of sets follow the one at an offset, in their order and in
// its sentence.
func (r *reader) ordered(sets [][]string, at int, code bool) bool {
	begin := at
	for i := 1; i < len(sets); i++ {
		places := r.places(sets[i], code)
		next, _ := slices.BinarySearch(places, at+1)
		if next == len(places) || places[next]-at > sentenceLength {
			return false
		}
		at = places[next]
	}
	return begin == at || !sentenceEnd.MatchString(r.file.Lower[begin:at])
}

// lineLength is the length in bytes from which on a line counts as several: minified code
// is one line.
const lineLength = 240

// near reports whether two offsets are within a number of lines.
func (r *reader) near(a, b, lines int) bool {
	a, b = min(a, b), max(a, b)
	return b-a <= (lines+1)*lineLength && r.file.Line(b)-r.file.Line(a) <= lines
}

// around returns the lines of a text within a number of lines of an offset.
func (r *reader) around(text string, at, lines int) string {
	line, reach := r.file.Line(at), (lines+1)*lineLength
	begin, end := r.file.Offset(line-lines), r.file.Offset(line+lines+1)
	return text[max(begin, at-reach):min(end, at+reach)]
}

// maxPlaces bounds the occurrences of a passage that are looked at.
const maxPlaces = 64

// places returns the offsets of a set in the code of the file, or in all of its text.
func (r *reader) places(set []string, code bool) (all []int) {
	k := key{&set[0], code}
	if known, ok := r.seen[k]; ok {
		return known
	}
	text := r.prose
	if code {
		text = r.file.Code
	}
	for _, passage := range set {
		if strings.HasPrefix(passage, "#") && len(passage) > 1 {
			all = append(all, r.items(passage)...)
			continue
		}
		n := 0
		if !r.mayHave(passage) {
			continue
		}
		for at := range surface.Whole(text, passage) {
			all = append(all, at)
			if n++; n == maxPlaces {
				break
			}
		}
	}
	slices.Sort(all)
	r.seen[k] = all
	return all
}

func trigram(s string) uint16 { return uint16(s[0])<<10 ^ uint16(s[1])<<5 ^ uint16(s[2]) }

// mayHave reports whether the text has all trigrams of a passage: a search for one that it
// does not have costs 40 times as much.
func (r *reader) mayHave(passage string) bool {
	for i := 2; i < len(passage)-1; i++ { // not of the last byte, which may be the sign of a stem
		if passage[i-2] != '\n' && !r.has[trigram(passage[i-2:])] {
			return false
		}
	}
	return true
}

// The bytes of an encoded text at least, and those of it that are decoded.
const (
	minEncoded = 20
	maxEncoded = 600
)

// encoded returns the offsets of texts in base64 or hexadecimal, also backwards, that decode
// to commands, addresses or orders.
func (r *reader) encoded() (all []int) {
	for text := range strings.FieldsFuncSeq(r.file.Content, func(c rune) bool {
		return (c|' ' < 'a' || c|' ' > 'z') && (c < '/' || c > '9') && c != '+' && c != '='
	}) {
		if len(all) < maxPlaces && len(text) >= minEncoded && decodes(text[:min(len(text), maxEncoded)]) {
			all = append(all, strings.Index(r.file.Content, text))
		}
	}
	return all
}

func decodes(text string) bool {
	reversed := []byte(strings.Trim(text, "="))
	slices.Reverse(reversed)
	for _, text := range []string{strings.TrimRight(text, "="), string(reversed)} {
		for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString} {
			data, _ := decode(text)                               // the beginning of one that is cut
			plain := strings.ReplaceAll(string(data), "\x00", "") // UTF-16 of ASCII
			if !strings.ContainsFunc(plain, func(c rune) bool { return c > '~' || c < ' ' && c != '\n' && c != '\t' && c != '\r' }) && tables().expressions["encoded"].MatchString(strings.ToLower(plain)) {
				return true
			}
		}
	}
	return false
}

// items returns the offsets of the lines with a capability.
func (r *reader) items(passage string) (all []int) {
	kind, value, _ := strings.Cut(passage[1:], " ")
	if kind == "encoded" {
		return r.encoded()
	}
	for _, item := range r.file.Items {
		if string(item.Kind) == kind && strings.HasPrefix(item.Value, value) {
			begin := r.file.Offset(item.Line)
			_, host, _ := strings.Cut(item.Value, " ") // of a download, which may be far from the line's begin
			all = append(all, begin+max(0, strings.Index(r.file.Lower[begin:r.file.Offset(item.Line+1)], host)))
		}
	}
	return all
}

var discussed = lazyregexp.New(`\b(?:attackers?|malicious|malware|suspicious|adversar\w+|signatures?|indicators? of compromise|red flags?|forbidden|blocklist|denylist|injections?|exfiltrat\w+|quotations?|evil|anti-?patterns?|red[- ]team\w*|threat (?:models?|intel\w*)|bad examples?|to look for|looking for|compromised|warning signs?|vulnerable|forensics?|incident response)\b|❌|\b(?:pattern(?:s|-\w+)?|regex(?:es|p)?|selection\w*|commandline\|\w+|signature|detection)["']?\s*:|(?:bad_|dangerous|patterns?|rules|checks|iocs?|risky|blocked|banned|suspicious|forbidden)\w*\s*[:=]\s*(?:\w+\()?[\[{(]`)

// searches matches a part of a pattern of a script that searches.
var searches = lazyregexp.New(`\\b|\\\+|\.\*|\\s[^a-z]|re\.compile\(`)

var quoted = lazyregexp.New("`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|„[^“\n]*“|(?:^|[\\s(=,rfb\\[])'[^'\n]{12,}'")

// A taint is the name of a value that a source gave, in a script.
type taint struct {
	name         string
	source, line int
}

// The lines over which a name is followed, those of a function before a source in it, those
// of a file that are read, and the names that are followed at a time.
const (
	flowLines     = 80
	functionLines = 15
	maxFlowLines  = 4000
	maxTaints     = 32
)

// executed returns the offset of a source whose value a script executes, on its line or a
// later one, by a name that it is assigned to, or by that of its function; -1 without one.
func (r *reader) executed(sources []int) int {
	if len(sources) == 0 {
		return -1
	}
	var names []taint
	follow := func(expression, text string, source, line int) {
		for _, m := range tables().expressions[expression].FindAllStringSubmatch(text, -1) {
			for name := range strings.FieldsFuncSeq(strings.Join(m[1:], ""), func(c rune) bool { return c == ',' || c == ' ' }) {
				if name = strings.TrimLeft(name, "${./"); len(name) > min(1, len(text)/lineLength) { // minified code uses each letter for all
					names = append(names, taint{name, source, line})
				}
			}
		}
		names = names[max(0, len(names)-maxTaints):]
	}
	first := max(1, r.file.Line(sources[0])-functionLines)
	function, declared := "", 0
	for line := first; line <= min(r.file.Line(len(r.file.Code)), first+maxFlowLines) && len(sources)+len(names) > 0; line++ {
		begin, end := r.file.Offset(line), r.file.Offset(line+1)
		source := -1
		for ; len(sources) > 0 && sources[0] < end; sources = sources[1:] {
			if source < 0 {
				source, begin = sources[0], max(begin, sources[0]-lineLength)
			}
		}
		text := r.file.Code[begin:min(end, begin+4*lineLength)]
		if m := tables().expressions["functions"].FindStringSubmatch(text); m != nil {
			function, declared = strings.Join(m[1:], ""), line
		}
		if source >= 0 && declared > 0 && line <= declared+functionLines {
			names = append(names, taint{function, source, line})
		}
		names = slices.DeleteFunc(names, func(t taint) bool { return line > t.line+flowLines })
		for _, t := range names {
			if source < 0 && surface.Find(text, t.name) >= 0 {
				source = t.source
			}
		}
		if source < 0 {
			continue
		}
		follow("assigns", text, source, line)
		for _, m := range tables().expressions["executes"].FindAllStringSubmatch(text, -1) {
			for _, t := range names {
				if surface.Find(strings.Join(m[1:], ""), t.name) >= 0 {
					return t.source
				}
			}
		}
	}
	return -1
}

// mentions reports whether a text only speaks of the passage at an offset: a script looks for
// it by a pattern; a text has it in code, in a table, or in quotation marks, without which the
// passage is gone.
func (r *reader) mentions(m *match, at int) bool {
	text := r.around(r.file.Lower, at, 2)
	for _, heading := range []string{"\n#", "\n# "} { // the nearest, and that of the page
		if begin := strings.LastIndex(r.file.Lower[:at], heading); begin >= 0 && !r.file.Script {
			text += r.around(r.file.Lower, begin+1, 0)
		}
	}
	if discussed.MatchString(text) || !r.file.Script && !r.file.Main && samples.MatchString(r.file.Name) {
		return true
	}
	if r.file.Script {
		const reach = 24
		return searches.MatchString(r.file.Content[max(0, at-reach):min(len(r.file.Content), at+reach)])
	}
	if !m.Spoken {
		return false
	}
	text = r.around(r.file.Content, at, 2)
	words := max(0, slices.IndexFunc(m.Near, func(set []string) bool { // addresses and paths are in quotation marks anyway
		return !strings.HasPrefix(set[0], "http") && !strings.ContainsAny(set[0][:1], "'\"~./@")
	}))
	if words == 0 && !strings.HasPrefix(r.file.Code[at:], " ") || strings.HasPrefix(strings.TrimSpace(r.around(r.file.Content, at, 0)), "|") {
		return true
	}
	text = quoted.ReplaceAllString(text, " ")
	instructions, lower := surface.Instructions(text), strings.ToLower(text)
	return !slices.ContainsFunc(m.Near[words], func(passage string) bool {
		value, _ := strings.CutPrefix(passage, "#"+string(surface.Instruction)+" ")
		passage = strings.TrimSuffix(passage, "*")
		return strings.Contains(lower, passage) || slices.ContainsFunc(instructions, func(i surface.Item) bool { return strings.HasPrefix(i.Value, value) })
	})
}
