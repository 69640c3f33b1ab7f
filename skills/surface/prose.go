package surface

import (
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
)

// prose adds what a text tells a model.
func (c *collector) prose(s *source) {
	if places, count := skills.HiddenPlaces(s.content, 1); count > 0 {
		c.add(Item{Kind: Hidden, Value: "characters", File: s.name, Line: places[0].Line})
	}
	for _, item := range Instructions(s.content) {
		item.Text, item.File = lineAt(s.content, s.offset(item.Line)), s.name
		c.add(item)
	}
	for _, tag := range []string{"<|im_start|>", "<|system|>", "[inst]", "<<sys>>", "<system>", "<system-reminder>"} {
		if at := strings.Index(s.lower, tag); at >= 0 {
			c.add(Item{Kind: Instruction, Value: "take a text for its system's", Text: lineAt(s.content, at), File: s.name, Line: s.line(at)})
		}
	}
}

// Instructions returns the instructions of a text to a model against the person, with the
// line of each.
func Instructions(text string) (found []Item) {
	all := plain(text)
	for _, d := range directives() {
		if at := d.find(all); at >= 0 {
			found = append(found, Item{Kind: Instruction, Value: d.value, Line: all[at].line})
		}
	}
	return found
}

// A word is one of a text, in lower case.
type word struct {
	text string
	line int // from 1
}

// plain returns the words of a text, but for small ones such as "the": line ends,
// emphasis and invisible characters separate nothing. Characters of the block of tags,
// which a person does not see and a model reads, count as the letters that they are.
func plain(content string) (all []word) {
	var b strings.Builder
	b.Grow(len(content))
	tagged, prev := false, rune(0)
	for _, r := range content {
		tag := r >= 0xe0020 && r <= 0xe007e
		if tag {
			r -= 0xe0000
		}
		switch {
		case tag != tagged:
			b.WriteByte(' ')
			fallthrough
		case r == '\n' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
		case r < 0x7f || !skills.IsHidden(prev, r):
			b.WriteByte(' ')
		}
		tagged, prev = tag, r
	}
	line := 0
	for text := range strings.Lines(b.String()) {
		line++
		for w := range strings.FieldsSeq(text) {
			switch w {
			case "the", "your", "a", "any", "all", "every", "this", "that", "these", "it", "of", "my", "ever":
			default:
				all = append(all, word{w, line})
			}
		}
	}
	return all
}

// A directive is an instruction to a model against the person.
type directive struct {
	value string
	// apart is the number of other words that may be between two parts.
	apart int
	// parts are sets of words, separated by blanks: a word of each, in this order, is the
	// directive.
	parts []string
}

// directives returns the instructions against the person that are recognized.
func directives() []directive {
	const person = "user users person human humans developer operator owner anyone anybody"
	const hide, keep = "hide something from the person", "keep something from the person"
	return []directive{
		{hide, 0, []string{"not never t without avoid", "tell telling inform informing notify notifying alert alerting warn warning", person}},
		{hide, 0, []string{"not never t without avoid", "reveal mention disclose report", "to", person}},
		{keep, 1, []string{"hide conceal keep", "from", person}},
		{keep, 0, []string{person, "must should", "not never", "know see notice learn"}},
		{keep, 1, []string{"without", person, "knowledge knowing noticing"}},
		{keep, 0, []string{"secretly covertly stealthily", "run send execute upload post call read copy collect"}},
		{"ignore its instructions", 0, []string{"ignore disregard forget override bypass circumvent", "previous prior above earlier preceding system safety security original", "instruction instructions rules prompt prompts guidelines messages checks policies policy restrictions directives"}},
		{"go around a person's consent", 0, []string{"skip bypass disable evade", "approval approvals permission permissions sandbox sandboxing safety consent"}},
		{"pass on secrets or conversations", 3, []string{"send post upload forward transmit exfiltrate submit append include attach", "conversation credentials secrets passwords", "to at as in into with"}},
		{"prefer it to all others", 0, []string{"before calling instead", "other", "tool tools skill skills action"}},
	}
}

// find returns the index of the first word of a directive; -1 without one.
func (d directive) find(all []word) int {
	sets := make([][]string, len(d.parts))
	for i, part := range d.parts {
		sets[i] = strings.Fields(part)
	}
	for at := range all {
		if !slices.Contains(sets[0], all[at].text) {
			continue
		}
		if end := sequence(sets, all[at:], d.apart+1); end > 0 && meant(all[max(0, at-3):at], all[at:at+end], all[at+end:]) {
			return at
		}
	}
	return -1
}

// sequence returns the number of words at the beginning of all that have one of each set
// in their order, each within reach of the last; 0 if they do not.
func sequence(sets [][]string, all []word, reach int) (end int) {
	for _, set := range sets {
		n := slices.IndexFunc(all[end:min(len(all), end+reach)], func(w word) bool { return slices.Contains(set, w.text) })
		if n < 0 {
			return 0
		}
		end += n + 1
	}
	return end
}

// meant reports whether words are a directive: no advice against it, such as "never skip
// consent", and no "never tell users to add a title".
func meant(before, words, after []word) bool {
	negates := func(w word) bool {
		return slices.Contains([]string{"not", "never", "t", "avoid", "without", "cannot", "no"}, w.text)
	}
	if slices.ContainsFunc(before, negates) {
		return false
	}
	return !negates(words[0]) || len(after) == 0 || !slices.Contains([]string{"to", "what", "how", "which"}, after[0].text)
}
