package surface

import (
	"sort"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// prose adds what a text tells a model.
func (c *collector) prose(s *source) {
	if places, count := skills.HiddenPlaces(s.content, 1); count > 0 {
		c.add(Item{Kind: Hidden, Value: "characters", File: s.name, Line: places[0].Line})
	}
	p := plain(s.content)
	text := newGramText(p.text)
	for _, d := range directives() {
		if at := d.find(text); at >= 0 {
			c.add(Item{Kind: Instruction, Value: d.value, Text: p.passage(s.content, at), File: s.name, Line: p.line(at)})
		}
	}
	for _, tag := range []string{"<|im_start|>", "<|system|>", "[inst]", "<<sys>>", "<system>", "<system-reminder>"} {
		if at := strings.Index(s.lower, tag); at >= 0 {
			c.add(Item{Kind: Instruction, Value: "take a text for its system's", Text: lineAt(s.content, at), File: s.name, Line: s.line(at)})
			break
		}
	}
}

// A plainText is a text as words in lower case with one blank between them, so that
// line ends, emphasis and invisible characters separate nothing.
type plainText struct {
	text  string
	lines []int // the offset at which each line begins
}

// plain returns the words of a text. Characters of the block of tags, which a person
// does not see and a model reads, count as the letters that they stand for.
func plain(content string) plainText {
	p := plainText{lines: []int{0}}
	var b strings.Builder
	b.Grow(len(content))
	blank, tagged := true, false
	prev := rune(0)
	for _, r := range content {
		if r >= 0xe0020 && r <= 0xe007e {
			if r -= 0xe0000; !tagged && !blank {
				b.WriteByte(' ')
			}
			tagged = true
		} else {
			tagged = false
		}
		switch {
		case r == '\n':
			p.lines = append(p.lines, b.Len())
			fallthrough
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && (r < 0x7f || !skills.IsHidden(prev, r)):
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
		case r >= 0x7f && skills.IsHidden(prev, r):
		default:
			b.WriteRune(unicode.ToLower(r))
			blank = false
		}
		prev = r
	}
	p.text = b.String()
	return p
}

// line returns the line of an offset, from 1.
func (p plainText) line(at int) int { return sort.SearchInts(p.lines, at+1) }

// passage returns the line of content at an offset of the words.
func (p plainText) passage(content string, at int) string {
	n := p.line(at)
	for line := range strings.Lines(content) {
		if n--; n == 0 {
			return line
		}
	}
	return ""
}

// A directive is an instruction to a model against the person.
type directive struct {
	value string
	// starts are the passages one of which begins each match: the expression is tried
	// there only, as a search at every character takes 0.3 s for 1 MB.
	starts     []string
	expression *lazyregexp.Regexp // begins with ^
	// negates reports that a "not" before it is no part of it: an advice against it.
	negates bool
}

// find returns the offset of a directive in a plain text; -1 without one.
func (d directive) find(g *gramText) int {
	first, text := -1, g.text
	for _, start := range d.starts {
		if !g.may(start) {
			continue
		}
		for at := range occurrences(text, start) {
			if first >= 0 && at > first {
				break
			}
			if at > 0 && isWord(text[at-1]) {
				continue
			}
			if m := d.expression.FindStringSubmatchIndex(text[at:]); m != nil && d.meant(text[max(0, at-24):at], text[at+m[1]:]) {
				first = at
			}
		}
	}
	return first
}

// meant reports whether a match is the directive, by the words around it.
func (d directive) meant(before, after string) bool {
	if d.negates {
		for _, word := range []string{"not", "never", "don t", "avoid", "without", "cannot", "no"} {
			if strings.Contains(" "+before, " "+word+" ") {
				return false
			}
		}
		return true
	}
	// "Never tell users to add …" is an advice, and hides nothing.
	next, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	return next != "to" && next != "what" && next != "how" && next != "which"
}

var (
	hides = lazyregexp.New(`^(?:do not|don t|never|must not|should not|shouldn t|without|avoid)( ever| to)? (tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|reveal to|let|letting|mention this to|mention it to|show this to|disclose this to|report this to)( to)? (the |your |a |any )?(user|users|person|human|humans|developer|operator|anyone|anybody|owner)\b`)
	keeps = lazyregexp.New(`^(?:(hide|conceal|keep) (this|it|that|these|them|the following)( step| action| call| instruction| hidden| secret| private)* from (the |your )?(user|users|person|human|developer|operator|owner)|(user|person|human|developer|operator|owner)s? (must|should|need) (not|never) (know|see|notice|learn|find out)|without the (user|person|human|developer|operator|owner) ?s? (s )?(knowledge|knowing|noticing|consent)|(do not|don t|never) (mention|disclose|reveal) (this|these) (step|instruction|action|call|file|script|command)s?|(secretly|covertly|stealthily) (run|send|execute|upload|post|call|read|copy|collect))\b`)
	skips = lazyregexp.New(`^(?:ignore|disregard|forget|override|bypass|circumvent)( all| any| the| of| your| every| these| those| my| and| other)* (previous|prior|above|earlier|preceding|system|safety|security|user s|original)( and| or| system| safety| security)* (instruction|instructions|rules|prompt|prompts|guidelines|messages|checks|policies|policy|restrictions|directives)\b`)
	gates = lazyregexp.New(`^(?:(skip|bypass|disable|evade|turn off)( the| all| any| every)* (approval|approvals|permission|permissions|sandbox|sandboxing|safety|consent)( check| checks| prompt| prompts| request| requests)*|dangerously skip permissions|auto approve (all|every|this|it)|approve (it|this|the call|the request) (yourself|by yourself|on behalf))\b`)
	leaks = lazyregexp.New(`^(?:send|post|upload|forward|transmit|exfiltrate|submit|append|include|attach)( \w+){0,6} (conversation history|chat history|entire conversation|whole conversation|full conversation|system prompt|credentials|secrets|api keys|private keys|private key|ssh keys|ssh key|access tokens|environment variables|passwords)( \w+){0,6} (to|at|as|in|into|with)\b`)
	first = lazyregexp.New(`^(?:before (using |calling |running |invoking )?(any|every|each) other (tool|tools|skill|skills|action)|instead of (any|every|all) other (tool|tools|skill|skills)|takes (precedence|priority) over (all|any|every) other)\b`)
)

// directives returns the instructions against the person that are recognized.
func directives() []directive {
	return []directive{
		{"hide something from the person", []string{"do not ", "don t ", "never ", "must not ", "should not ", "shouldn t ", "without ", "avoid "}, hides, false},
		{"keep something from the person", []string{
			"hide ", "conceal ", "keep ", "user", "person", "human", "developer", "operator", "owner", "without the ",
			"do not ", "don t ", "never ", "secretly ", "covertly ", "stealthily ",
		}, keeps, false},
		{"ignore its instructions", []string{"ignore ", "disregard ", "forget ", "override ", "bypass ", "circumvent "}, skips, true},
		{"go around a person's consent", []string{"skip ", "bypass ", "disable ", "evade ", "turn off ", "dangerously skip ", "auto approve ", "approve "}, gates, true},
		{"pass on secrets or conversations", []string{"send ", "post ", "upload ", "forward ", "transmit ", "exfiltrate ", "submit ", "append ", "include ", "attach "}, leaks, true},
		{"prefer it to all others", []string{"before ", "instead of ", "takes "}, first, false},
	}
}
