package wellknown

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// The schema and types of entries that are known.
const (
	schema      = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
	typeSkill   = "skill-md"
	typeArchive = "archive"
)

const (
	maxEntries     = 10_000
	maxDescription = 1_024 // bytes that are shown
)

var (
	skillName  = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	digestText = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
)

// An index is the list of the skills that a site publishes.
type index struct {
	entries []*entry
	invalid map[string]string // the reasons why entries cannot be fetched, by name
}

// An entry is a skill of an index.
type entry struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
}

// parseIndex reads an index of version 0.2.0. Entries of unknown types are left out; those
// that break a rule are an error only for the person who wants them.
func parseIndex(data []byte) (*index, error) {
	var document struct {
		Schema string            `json:"$schema"`
		Skills []json.RawMessage `json:"skills"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, refuse("the index is not the JSON of one: "+err.Error(), "check the URL; it must end in /index.json of a discovery index")
	}
	if document.Skills == nil {
		return nil, refuse(`the index has no list "skills"`, "check the URL; it must end in /index.json of a discovery index")
	}
	if is := strings.TrimSuffix(document.Schema, "#"); is != schema {
		return nil, refuse(fmt.Sprintf("the index has the version %q, and only 0.2.0 is read, which states digests", truncate.String(is, 200)), "ask its publisher for that, or install a skill by its own URL")
	}
	if len(document.Skills) > maxEntries {
		return nil, refuse(fmt.Sprintf("the index has %d entries; %d are the limit", len(document.Skills), maxEntries), "install a skill by its own URL")
	}
	i := &index{invalid: map[string]string{}}
	for _, raw := range document.Skills {
		i.add(raw)
	}
	return i, nil
}

func refuse(reason, remedy string) error { return &source.RefusedError{Reason: reason, Remedy: remedy} }

// add adds an entry, or the reason why it cannot be fetched.
func (i *index) add(raw json.RawMessage) {
	var e entry
	if json.Unmarshal(raw, &e) != nil || !skillName.MatchString(e.Name) || len(e.Name) > 64 {
		return // nobody can ask for it
	}
	if e.Type != typeSkill && e.Type != typeArchive {
		return
	}
	switch {
	case i.has(e.Name):
		i.invalid[e.Name] = "the index has it twice"
		return
	case e.URL == "":
		i.invalid[e.Name] = "the index has no URL of it"
	case !digestText.MatchString(e.Digest):
		i.invalid[e.Name] = "the index has no sha256 digest of it"
	}
	i.entries = append(i.entries, &e)
}

func (i *index) has(name string) bool {
	return slices.ContainsFunc(i.entries, func(e *entry) bool { return e.Name == name })
}

// choose returns the entries to fetch, sorted by name.
func (i *index) choose(names []string, all bool) ([]*entry, error) {
	slices.SortFunc(i.entries, func(a, b *entry) int { return strings.Compare(a.Name, b.Name) })
	if len(i.entries) == 0 {
		return nil, refuse("the index has no skills that can be fetched", "ask its publisher")
	}
	for _, name := range names {
		if !i.has(name) {
			return nil, &source.ChoiceError{Missing: name, Choices: i.choices()}
		}
	}
	if len(names) == 0 && !all && len(i.entries) > 1 {
		return nil, &source.ChoiceError{Choices: i.choices()}
	}
	var chosen []*entry
	for _, e := range i.entries {
		if len(names) > 0 && !slices.Contains(names, e.Name) {
			continue
		}
		if reason := i.invalid[e.Name]; reason != "" {
			return nil, refuse(fmt.Sprintf("the skill %q: %s", e.Name, reason), "choose others with --skill, or ask the publisher")
		}
		chosen = append(chosen, e)
	}
	return chosen, nil
}

func (i *index) choices() []source.Choice {
	var choices []source.Choice
	for _, e := range i.entries {
		choices = append(choices, source.Choice{Name: e.Name, Kind: "skill", Description: truncate.String(e.Description, maxDescription), Path: e.Name})
	}
	return choices
}

// revision returns the digest of a skill, or one of all if name is "" and there are
// several.
func (i *index) revision(name string) string {
	var lines []string
	for _, e := range i.entries {
		if e.Name == name || len(i.entries) == 1 {
			return e.Digest
		}
		lines = append(lines, e.Name+" "+e.Digest)
	}
	slices.Sort(lines)
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(lines, "\n"))))
}
