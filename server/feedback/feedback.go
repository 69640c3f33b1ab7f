// Package feedback collects the experience with a skill on this machine: the ends of its
// last runs, by the record, and the ratings of models and people.
//
// Start with [New].
package feedback

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// MaxNote is the length of the longest note, in characters.
const MaxNote = 500

// Bounds of a [Summary].
const (
	maxRuns   = 1000 // that are counted
	maxErrors = 3
	maxError  = 200 // bytes
	maxNotes  = 5
	maxNote   = 4 * MaxNote // bytes
)

// A Book holds the feedback on skills in a store. It may be used concurrently.
type Book struct{ store *store.Store }

// New returns the feedback in a store. It opens nothing.
func New(s *store.Store) *Book { return &Book{s} }

// A Summary is the feedback on one skill. Its texts have one line each, without characters
// that are not seen. Others wrote them: they are data, and no instructions.
type Summary struct {
	// Calls and Failures count the last recorded runs, at most 1000.
	Calls    int `json:"calls"`
	Failures int `json:"failures"`
	// LastErrors has the errors of the last failed runs, the newest first.
	LastErrors []Failure `json:"last_errors,omitempty"`
	// Good and Bad count the last ratings.
	Good int `json:"good"`
	Bad  int `json:"bad"`
	// Notes has the notes of the last ratings, the newest first.
	Notes []Note `json:"notes,omitempty"`
}

// A Failure is the error of a run. The skill may have written a part of it.
type Failure struct {
	At    time.Time `json:"at"`
	Error string    `json:"error"`
}

// A Note is the text of a rating.
type Note struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"` // the kind of the principal, such as "model" or "person"
	OK   bool      `json:"ok"`
	Note string    `json:"note"`
}

// Rate adds a rating of a skill by a principal. The error is a [*run.Error].
func (b *Book) Rate(ctx context.Context, p identity.Principal, skill *skills.Skill, ok bool, note string) error {
	note = strings.TrimSpace(note)
	if n := utf8.RuneCountInString(note); n > MaxNote {
		return &run.Error{Code: run.InvalidParam, Message: fmt.Sprintf("the note has %d characters, more than %d; shorten it", n, MaxNote)}
	}
	err := b.store.Rate(ctx, idOf(skill), store.Rating{Principal: kindOf(p), OK: ok, Note: oneLine(note, maxNote), At: time.Now()})
	if err != nil {
		return &run.Error{Code: run.Unavailable, Message: "the rating cannot be stored; go on without it", Err: err}
	}
	return nil
}

// kindOf names the kind of a principal.
func kindOf(p identity.Principal) string {
	if p.Kind == identity.Anonymous {
		return "anonymous"
	}
	return string(p.Kind)
}

// idOf returns the ID of a skill in the store.
func idOf(skill *skills.Skill) store.SkillID {
	return store.SkillID{Name: skill.QualifiedName(), Origin: skill.Origin().String()}
}

// Of returns the feedback on a skill for a principal; nil is none. It has the last line of
// what a script wrote before it failed for the person, and for the principal of that run.
func (b *Book) Of(ctx context.Context, p identity.Principal, skill *skills.Skill) (*Summary, error) {
	ends, err := b.store.Ends(ctx, idOf(skill), maxRuns)
	if err != nil {
		return nil, err
	}
	ratings, err := b.store.Ratings(ctx, idOf(skill))
	if err != nil || len(ends)+len(ratings) == 0 {
		return nil, err
	}
	s := &Summary{Calls: len(ends)}
	for _, end := range ends {
		s.add(end, p.Kind == identity.Person || p.ID == end.Subject)
	}
	for _, r := range ratings {
		s.rate(r)
	}
	return s, nil
}

// add adds the end of a run, whole or without the script's own words.
func (s *Summary) add(end store.End, whole bool) {
	if end.Outcome == audit.OK {
		return
	}
	if s.Failures++; len(s.LastErrors) == maxErrors {
		return
	}
	text := end.Error
	switch {
	case end.Exit != nil && (text == "" || !whole):
		text = fmt.Sprintf("exit code %d", *end.Exit)
	case text != "":
	default:
		text = end.Outcome
	}
	s.LastErrors = append(s.LastErrors, Failure{end.At.UTC(), oneLine(text, maxError)})
}

// rate adds a rating.
func (s *Summary) rate(r store.Rating) {
	if r.OK {
		s.Good++
	} else {
		s.Bad++
	}
	if r.Note != "" && len(s.Notes) < maxNotes {
		s.Notes = append(s.Notes, Note{r.At.UTC(), r.Principal, r.OK, oneLine(r.Note, maxNote)})
	}
}

// oneLine returns a stranger's text in one line, with codes for what is not seen.
func oneLine(text string, most int) string {
	return truncate.String(termtext.Visible(strings.Join(strings.Fields(text), " ")), most)
}
