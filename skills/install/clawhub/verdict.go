package clawhub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// verdictSchema is the schema of the answer about security verdicts.
const verdictSchema = "clawhub.skill.security-verdicts.v1"

// judge refuses a release that its registry calls malicious, and adds a note for each
// state but clean. A registry that does not know, or has not looked, counts as suspicious.
func (rel *release) judge(ctx context.Context, fetched *source.Fetched) error {
	var states []state
	if m := rel.skill.Moderation; m != nil {
		states = append(states, m.state())
	}
	if rel.security != nil {
		states = append(states, rel.security.state(nil))
	}
	if rel.version != "" {
		s, err := rel.askVerdict(ctx)
		if err != nil {
			return err
		}
		states = append(states, s)
	}
	for _, s := range states {
		switch reasons := s.text(); {
		case s.malicious:
			return &source.RefusedError{Reason: fmt.Sprintf("%s calls %s malicious (%s)", rel.host, rel.slug, reasons), Remedy: "choose another skill"}
		case !s.clean:
			rel.suspect(fetched, fmt.Sprintf("%s does not call it clean: %s", rel.host, reasons))
		}
	}
	if len(fetched.Notes) == 0 && rel.version != "" {
		fetched.Checked = append(fetched.Checked, "the registry's security verdict on this version: clean")
	}
	if owner := rel.skill.Owner; owner != nil && rel.owner != "" && !strings.EqualFold(owner.Handle, rel.owner) {
		rel.suspect(fetched, fmt.Sprintf("you asked for a skill of %s, and the registry answers with one of %s", rel.owner, printable(owner.Handle, 100)))
	}
	return nil
}

func (rel *release) suspect(fetched *source.Fetched, text string) {
	note := source.Note{Suspicious: true, Text: text}
	if !slices.Contains(fetched.Notes, note) {
		fetched.Notes = append(fetched.Notes, note)
	}
}

// A state is one opinion of a registry.
type state struct {
	malicious, clean bool
	words            []string // as the registry has them
}

// text returns the words for a person, bounded.
func (s *state) text() string {
	var words []string
	for _, w := range s.words {
		if w = printable(w, 80); w != "" && !slices.Contains(words, w) && len(words) < 8 {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return "no reason given"
	}
	return strings.Join(words, ", ")
}

func (m *moderation) state() state {
	s := stateOf(append([]string{m.Verdict}, m.ReasonCodes...), m.Verdict)
	s.malicious = s.malicious || m.IsMalwareBlocked
	s.clean = s.clean && !m.IsSuspicious && !s.malicious
	return s
}

func (v *security) state(reasons []string) state {
	words := append([]string{v.Status, v.RawStatus, v.Verdict}, reasons...)
	s := stateOf(words, v.Status, v.RawStatus, v.Verdict)
	if v.BlockedFromDownload {
		s.malicious, s.words = true, append(s.words, "blocked from download")
	}
	if v.Pending || v.Stale {
		s.clean, s.words = false, append(s.words, "pending or stale")
	}
	s.clean = s.clean && (v.Passed == nil || *v.Passed)
	return s
}

// stateOf returns the state that all of some verdicts mean together. Empty ones mean
// nothing; words are those that are shown.
func stateOf(words []string, verdicts ...string) state {
	s := state{words: words}
	said := 0
	for _, word := range words {
		word = strings.ToLower(word)
		s.malicious = s.malicious || word == "malicious" || word == "malware" || strings.Contains(word, "malware_blocked")
	}
	for _, v := range verdicts {
		switch strings.ToLower(v) {
		case "":
			continue
		case "clean", "pass", "passed", "benign":
			said++
			continue
		}
		return s
	}
	s.clean = said > 0 && !s.malicious
	return s
}

// askVerdict asks for the verdict on a version. No answer is not clean; the error is one
// of reaching the registry.
func (rel *release) askVerdict(ctx context.Context) (state, error) {
	item := map[string]string{"slug": rel.slug, "version": rel.version}
	if rel.owner != "" {
		item["ownerHandle"] = rel.owner
	}
	question, err := json.Marshal(map[string]any{"items": []any{item}})
	if err != nil {
		return state{}, err
	}
	var answer struct {
		Schema string    `json:"schema"`
		Items  []verdict `json:"items"`
	}
	err = rel.send(ctx, download.Get{URL: rel.url("/skills/-/security-verdicts", nil), Post: question}, &answer)
	var status *download.StatusError
	switch {
	case errors.As(err, &status):
		return state{words: []string{fmt.Sprintf("no security verdict, as it answers %d", status.Status)}}, nil
	case err != nil:
		return state{}, err
	}
	if answer.Schema == verdictSchema {
		for _, v := range answer.Items {
			if v.Version == rel.version && (v.Slug == rel.slug || v.RequestedSlug == rel.slug) && v.Security != nil {
				return v.state(), nil
			}
		}
	}
	return state{words: []string{"no security verdict on this version"}}, nil
}

func (v *verdict) state() state {
	s := v.Security.state(append([]string{v.Decision}, v.Reasons...))
	s.clean = s.clean && v.OK && strings.EqualFold(v.Decision, "pass")
	return s
}
