package search

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// A field is a part of a skill that has a weight of its own.
type field uint8

const (
	nameField field = iota
	descriptionField
	whenField
	keywordsField
	paramsField
	bodyField
	fieldCount

	// noField is that of sentences and sections which say what the skill is not for. They
	// are not indexed: to count their words against a skill cost more than it gave.
	noField = fieldCount
)

// maxText bounds the bytes of one text that are indexed: a longer one is reference.
const maxText = 64 << 10

// A document has the texts of a skill by field.
type document struct {
	skill *skills.Skill
	texts [fieldCount][]string
}

func (d *document) add(f field, texts ...string) {
	for _, text := range texts {
		if text != "" && f != noField {
			d.texts[f] = append(d.texts[f], text[:min(len(text), maxText)])
		}
	}
}

// addPurpose adds a text that may have sentences which say what the skill is not for.
func (d *document) addPurpose(f field, purpose string) {
	for sentence := range text.Sentences(purpose[:min(len(purpose), maxText)]) {
		if !text.Excludes(sentence) {
			d.add(f, sentence)
		}
	}
}

// newDocument returns the texts of a skill. A skill has those of its tools, too, and a
// tool has none of its skill's, so that a word of the instructions finds the skill once.
func newDocument(s *skills.Skill) *document {
	d := &document{skill: s}
	d.add(nameField, s.QualifiedName(), s.DisplayName)
	d.addPurpose(descriptionField, s.Description)
	d.add(descriptionField, s.ShortDescription)
	d.addParams(s)
	if s.Of != nil {
		return d
	}
	d.addPurpose(whenField, s.WhenToUse)
	d.add(keywordsField, s.Keywords...)
	d.add(keywordsField, s.Category)
	for _, tool := range s.Tools {
		if tool.ModelInvocable || !s.ModelInvocable {
			d.add(paramsField, tool.Name, tool.Description)
			d.addParams(tool)
		}
	}
	if text, err := s.Text(); err == nil { // damaged since the scan: the rest finds it
		d.addBody(text)
	}
	return d
}

func (d *document) addParams(s *skills.Skill) {
	if s.Entry == nil {
		return
	}
	for _, p := range s.Entry.Params() {
		d.add(paramsField, p.Name)
		if p.Schema != nil {
			d.add(paramsField, p.Schema.Description)
		}
	}
}

// maxSection bounds the bytes of a section that says when to use a skill.
const maxSection = 4 << 10

// addBody adds the instructions, each section to the field of its heading.
func (d *document) addBody(text string) {
	f, level, size := bodyField, 0, 0
	inCode, start := false, 0
	text = text[:min(len(text), maxText)]
	at := 0
	flush := func(end int) {
		d.add(f, text[start:end])
		start = end
	}
	for line := range strings.Lines(text) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		heading := 0
		if !inCode && !fence {
			heading = headingLevel(line)
		}
		switch {
		case heading > 0 && (f == bodyField || heading <= level):
			flush(at)
			f, level, size = sectionField(line), heading, 0
		case f == whenField && size > maxSection:
			flush(at)
			f = bodyField
		}
		if fence {
			inCode = !inCode
		}
		size += len(line)
		at += len(line)
	}
	flush(len(text))
}

// headingLevel returns the level of a Markdown heading, 0 for another line. A line in
// bold letters is one, too.
func headingLevel(line string) int {
	line = strings.TrimSpace(line)
	n := len(line) - len(strings.TrimLeft(line, "#"))
	switch {
	case n > 0 && n <= 6 && strings.HasPrefix(line[n:], " "):
		return n
	case strings.HasPrefix(line, "**") && (strings.HasSuffix(line, "**") || strings.HasSuffix(line, "**:")) && len(line) < 80:
		return 7
	}
	return 0
}

func sectionField(heading string) field {
	if len(heading) > 120 {
		return bodyField
	}
	heading = strings.ToLower(heading)
	switch {
	case containsAny(heading, "when not", "not to use", "not use", "n't use", "n’t use", "not for", "out of scope", "non-goal", "anti-trigger",
		"wann nicht", "nicht verwenden", "ne pas", "no usar", "cuándo no", "не использ", "не примен", "不适用", "不要", "使用しない"):
		return noField
	case containsAny(heading, "when to", "when you", "when should", "when this", "use when", "use this", "use if", "use for", "use case", "trigger", "activat",
		"wann", "quand", "cuando", "cuándo", "quando", "когда", "何时", "什么时候", "使用场景", "适用", "いつ"):
		return whenField
	}
	return bodyField
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}
