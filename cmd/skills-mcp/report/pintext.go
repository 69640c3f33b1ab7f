package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/surface"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

// A PinInfo is the accepted version of a skill, with the difference since.
type PinInfo struct {
	Name     string    `json:"name"`
	Origin   string    `json:"origin"`
	Digest   string    `json:"digest"` // now
	Accepted string    `json:"accepted_digest"`
	At       time.Time `json:"accepted_at"`
	ByPerson bool      `json:"by_person"`
	// Blocked reports that a person has to accept the change.
	Blocked bool     `json:"blocked"`
	Gained  []string `json:"gained"`
	Lost    []string `json:"lost"`
	Diff    string   `json:"diff,omitempty"` // of the files, unified
}

// NewPinInfo describes a comparison, nil if there is no accepted version.
func NewPinInfo(skill *skills.Skill, c *pins.Comparison) *PinInfo {
	if c.Pin == nil {
		return nil
	}
	info := &PinInfo{
		Name: skill.Owner().QualifiedName(), Origin: c.Pin.Origin, Digest: c.Digest, Accepted: c.Pin.AcceptedDigest, At: c.Pin.Accepted, ByPerson: c.Pin.ByPerson,
		Blocked: c.Grown() && skill.Guarded(), Gained: []string{}, Lost: []string{}, Diff: c.Diff,
	}
	for _, change := range c.Changes {
		if line := change.String(); change.Gone {
			info.Lost = append(info.Lost, line)
		} else {
			info.Gained = append(info.Gained, line)
		}
	}
	return info
}

// State says in a few words how a skill differs from its accepted version.
func (i *PinInfo) State() string {
	switch {
	case i.Blocked:
		return fmt.Sprintf("blocked: it gained %d", len(i.Gained))
	case len(i.Gained) > 0:
		return fmt.Sprintf("it gained %d", len(i.Gained))
	}
	return "it gained nothing"
}

// Write writes the difference for a person.
func (i *PinInfo) Write(w io.Writer) {
	by := "at its first use"
	if i.ByPerson {
		by = "by you"
	}
	if i.Accepted == "" {
		fmt.Fprintf(w, "\nits accepted version does not count, as skills-mcp has not written it: %s\n", i.State())
	} else {
		fmt.Fprintf(w, "\nchanged since it was accepted %s, on %s: %s\n", by, i.At.Format(time.DateTime), i.State())
	}
	for _, line := range append(i.Gained, i.Lost...) {
		fmt.Fprintln(w, "  "+plain.Visible(line))
	}
	if i.Diff != "" {
		fmt.Fprintln(w, "\nits files, those first that are executed:")
		for line := range strings.Lines(i.Diff) {
			fmt.Fprintln(w, "  "+plain.Visible(strings.TrimSuffix(line, "\n")))
		}
	}
	if i.Blocked {
		fmt.Fprintf(w, "\nIt is blocked until you accept that: skills-mcp pin %s\n", plain.Visible(i.Name))
	}
}

// WriteSurface writes the capabilities of a skill for a person.
func WriteSurface(w io.Writer, s *surface.Surface) {
	fmt.Fprintln(w, "\ncapabilities:")
	for _, item := range s.Items {
		if item.Kind != surface.Name {
			fmt.Fprintln(w, "  "+plain.Visible(item.String()))
		}
	}
}

// WriteFindings prints the findings in the files of a skill.
func WriteFindings(w io.Writer, found []verdict.Finding) {
	if len(found) > 0 {
		fmt.Fprintln(w, "\nthe scan found:")
	}
	for _, f := range found {
		fmt.Fprintln(w, "  "+f.String())
	}
}

// PinQuestion returns the question whether a skill is accepted.
func PinQuestion(skill *skills.Skill, c *pins.Comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "skills-mcp: accept %s as it is now?\n", plain.Visible(skill.QualifiedName()))
	fmt.Fprintf(&b, "  from    %s\n  digest  %s\n", plain.Visible(skill.Origin().Place), c.Digest)
	if info := NewPinInfo(skill, c); info != nil {
		info.Blocked = false // the question is the remedy
		info.Write(&b)
	} else {
		WriteSurface(&b, c.Surface)
	}
	return b.String()
}
