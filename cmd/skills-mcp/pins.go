package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/surface"
	"github.com/spf13/cobra"
)

// A pinInfo is the accepted version of a skill, with the difference since.
type pinInfo struct {
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

// newPinInfo describes a comparison, nil if there is no accepted version.
func newPinInfo(skill *skills.Skill, c *pins.Comparison) *pinInfo {
	if c.Pin == nil {
		return nil
	}
	info := &pinInfo{
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

// state says in a few words how a skill differs from its accepted version.
func (i *pinInfo) state() string {
	switch {
	case i.Blocked:
		return fmt.Sprintf("blocked: it gained %d", len(i.Gained))
	case len(i.Gained) > 0:
		return fmt.Sprintf("it gained %d", len(i.Gained))
	}
	return "it gained nothing"
}

// write writes the difference for a person.
func (i *pinInfo) write(w io.Writer) {
	by := "at its first use"
	if i.ByPerson {
		by = "by you"
	}
	if i.Accepted == "" {
		fmt.Fprintf(w, "\nits accepted version does not count, as skills-mcp has not written it: %s\n", i.state())
	} else {
		fmt.Fprintf(w, "\nchanged since it was accepted %s, on %s: %s\n", by, i.At.Format(time.DateTime), i.state())
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

// writeSurface writes the capabilities of a skill for a person.
func writeSurface(w io.Writer, s *surface.Surface) {
	fmt.Fprintln(w, "\ncapabilities:")
	for _, item := range s.Items {
		if item.Kind != surface.Name {
			fmt.Fprintln(w, "  "+plain.Visible(item.String()))
		}
	}
}

// pinCommand accepts a skill as it is now.
type pinCommand struct{ *app }

func newPinCommand(a *app) *cobra.Command {
	c := &pinCommand{a}
	return &cobra.Command{
		Use:   "pin NAME",
		Short: "Accept a skill as it is now, after a look at what changed",
		Long: `Show what a skill has gained since it was accepted, and ask whether you accept it as
it is now. Skills of others are accepted at their first use; one that gains a
capability later is blocked until then, in running servers, too. It asks on a
terminal, for a number that is shown after the question.`,
		Example:           "  skills-mcp pin office/report",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
}

func (c *pinCommand) run(ctx context.Context, name string) error {
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	skill, _, err := pick(catalog, name, s.Gate)
	if err != nil {
		return err
	}
	if skill = skill.Owner(); skill.Origin().Kind == skills.OriginBundled {
		return exitcode.Usage(fmt.Errorf("%s is a part of this program; it needs no pin", plain.Visible(name)))
	}
	all, err := s.OpenPins()
	if err != nil {
		return err
	}
	compared, err := all.Compare(ctx, skill)
	if err != nil {
		return err
	}
	if compared.Pin != nil && !compared.Changed() {
		_, err := fmt.Fprintf(c.stderr, "%s is as it was accepted on %s\n", plain.Visible(name), compared.Pin.Accepted.Format(time.DateTime))
		return err
	}
	if err := c.app.confirm(ctx, pinQuestion(skill, compared), "accept it"); err != nil {
		return err
	}
	if err := all.Accept(ctx, skill, compared.Digest, compared.Folder); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stderr, "%s is accepted as it is now\n", plain.Visible(name))
	return err
}

// pinQuestion returns the question whether a skill is accepted.
func pinQuestion(skill *skills.Skill, c *pins.Comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "skills-mcp: accept %s as it is now?\n", plain.Visible(skill.QualifiedName()))
	fmt.Fprintf(&b, "  from    %s\n  digest  %s\n", plain.Visible(skill.Origin().Place), c.Digest)
	if info := newPinInfo(skill, c); info != nil {
		info.Blocked = false // the question is the remedy
		info.write(&b)
	} else {
		writeSurface(&b, c.Surface)
	}
	return b.String()
}

// printChanged lists the skills that differ from their accepted versions.
func (a *app) printChanged(ctx context.Context, s *setup.Settings, catalog *skills.Catalog, asJSON bool) error {
	all, err := s.OpenPins()
	if err != nil {
		return err
	}
	changed, compared, err := all.Changed(ctx, catalog)
	if err != nil {
		return err
	}
	infos := []*pinInfo{}
	for i, skill := range changed {
		infos = append(infos, newPinInfo(skill, compared[i]))
	}
	if asJSON {
		return a.printJSON(map[string]any{"changed": infos})
	}
	if len(infos) == 0 {
		_, err := fmt.Fprintln(a.stderr, "no skill has changed since it was accepted")
		return err
	}
	return table(a.stdout, func(w io.Writer) {
		fmt.Fprintln(w, "NAME\tACCEPTED\tSTATE")
		for _, i := range infos {
			fmt.Fprintf(w, "%s\t%s\t%s\n", plain.Visible(i.Name), i.At.Format(time.DateTime), i.state())
		}
	})
}
