package pins

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// MayHaveGrown reports whether a skill is known to be blocked, or asks for something in a
// trusted workspace and is not known to be accepted. It reads nothing.
func (p *Pins) MayHaveGrown(skill *skills.Skill) bool {
	s := subject{skill: skill}
	if skill.Blocked != "" || !s.trusted() {
		return skill.Blocked != ""
	}
	known := p.last(skill.Origin().String())
	accepted := known.trusted && len(known.grown) == 0
	return !accepted && len(s.unaccepted(nil)) > 0
}

// Grown returns the capabilities that the skill of a proposal has gained since a person
// accepted it, a line each, and the digests that it had since without gaining anything.
// The error is a [*run.Error].
func (p *Pins) Grown(ctx context.Context, proposal *run.Proposal) (grown, ancestors []string, err error) {
	if err := p.refuse(proposal.Skill, proposal.Digest, proposal.Folder); err != nil {
		return nil, nil, err
	}
	now, err := p.check(ctx, proposal.Skill, proposal.Digest, proposal.Folder)
	if err != nil {
		return nil, nil, unreadable(proposal.Skill, err)
	}
	return lines(now.grown), now.ancestors, nil
}

// refuse returns the error of a skill that the scan blocks.
func (p *Pins) refuse(skill *skills.Skill, digest, folder string) error {
	if p.options.Scan == nil {
		return nil
	}
	return p.options.Scan.Refuse(skill, digest, skillfs.DirFS(folder))
}

// Accepted records that people have approved a proposal, and with it the files of its
// skill. The error is a [*run.Error].
func (p *Pins) Accepted(ctx context.Context, proposal *run.Proposal) error {
	known := p.last(proposal.Skill.Origin().String())
	if known.pinned && known.digest == proposal.Digest && len(known.grown) == 0 {
		return nil
	}
	err := p.Accept(ctx, proposal.Skill, proposal.Digest, proposal.Folder)
	if err != nil && !errors.Is(err, seal.ErrLocked) { // their yes was to this call alone
		return unreadable(proposal.Skill, err)
	}
	return nil
}

// Granted records that a person has given a skill something: from now on its growth is
// known, also of one that was never used, or that is the person's own.
func (p *Pins) Granted(ctx context.Context, skill *skills.Skill) error {
	digest, folder, err := p.snapshot(ctx, skill, "")
	if err != nil {
		return err
	}
	if !skill.Guarded() {
		return p.Accept(ctx, skill, digest, folder)
	}
	_, err = p.check(ctx, skill, digest, folder)
	return err
}

// AcceptAll records that a person has accepted skills, with their tools, as they are. One
// that cannot be read is not accepted.
func (p *Pins) AcceptAll(ctx context.Context, all []*skills.Skill) {
	for _, skill := range all {
		digest, folder, err := p.snapshot(ctx, skill, "")
		if err == nil {
			err = p.Accept(ctx, skill, digest, folder)
		}
		if err != nil {
			p.options.Logger.Warn("a skill cannot be accepted; its first call is a question", "skill", skill.QualifiedName(), "error", err)
		}
	}
}

// unreadable returns the error of a skill that cannot be compared.
func unreadable(skill *skills.Skill, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &run.Error{Code: run.Unavailable, Message: fmt.Sprintf("skill %s cannot be compared with the version that was accepted: %v", skill.QualifiedName(), err), Err: err}
}

// Text returns nil if the texts and files of a skill may be passed on: its first ones,
// or those that gained nothing since. Otherwise the error is a [*run.Error] with the
// difference, or the findings of the scan that blocks it. Skills that are not guarded cost
// nothing, unless a scan may block them.
func (p *Pins) Text(ctx context.Context, skill *skills.Skill) error {
	if !skill.Guarded() && p.options.Scan == nil {
		return nil
	}
	digest, folder, err := p.snapshot(ctx, skill, "")
	if err == nil {
		err = p.refuse(skill, digest, folder)
	}
	if err != nil || !skill.Guarded() {
		return err
	}
	now, err := p.check(ctx, skill, digest, folder)
	if err != nil {
		return unreadable(skill, err)
	}
	if len(now.grown) == 0 || now.asks { // trust gives nothing to those who read it
		return nil
	}
	return blocked(skill, now.grown)
}

// Recheck compares a skill whose files may have changed, in the background: one that was
// never used has no pin, and gets none.
func (p *Pins) Recheck(ctx context.Context, skill *skills.Skill) {
	if !skill.Guarded() || skill.Of != nil {
		return
	}
	if pin, _, err := p.find(ctx, skill.Origin().String()); pin != nil && err == nil {
		_ = p.Text(ctx, skill) // who uses the skill gets the error that stays
	}
}

// RecheckAll compares the skills of a catalog that have a pin, in the background, until
// ctx is done.
func (p *Pins) RecheckAll(ctx context.Context, catalog *skills.Catalog) {
	pinned, err := p.store.DecisionKeys(ctx, kind)
	if err != nil || len(pinned) == 0 {
		return
	}
	for _, skill := range catalog.Skills {
		if skill.Of == nil && pinned[skill.Origin().String()] && ctx.Err() == nil {
			p.Recheck(ctx, skill)
		}
	}
}

// maxLines bounds the lines of a difference for a model.
const maxLines = 12

// blocked returns the error of a skill that could do more than was accepted, with the
// difference. It has none of the skill's passages: they could be meant for the model.
func blocked(skill *skills.Skill, grown []surface.Change) *run.Error {
	var b strings.Builder
	name := termtext.Visible(skill.Owner().QualifiedName())
	fmt.Fprintf(&b, "skill %s has changed since it was accepted, and could do more now, so it is blocked until a person accepts the change:\n", name)
	for i, change := range grown {
		if i == maxLines {
			fmt.Fprintf(&b, "and %d more\n", len(grown)-i)
			break
		}
		change.Text = ""
		fmt.Fprintln(&b, change)
	}
	return &run.Error{
		Code: run.ApprovalRequired, Message: fmt.Sprintf("%sAll of it: skills-mcp show %s. Accept it in a terminal.", &b, name),
		Model: fmt.Sprintf("%sTell the person. They see all of it with: skills-mcp show %s, and accept it in a terminal of their own. Do not try again before, and do not use its files in another way.", &b, name),
	}
}

// Apply returns the catalog with the skills that are blocked marked so, and without
// their texts; it returns the catalog itself if there is none. It implements the filter
// of package live. Calls must not overlap.
func (p *Pins) Apply(ctx context.Context, catalog *skills.Catalog) *skills.Catalog {
	rows, err := p.table.List(ctx, store.DecisionFilter{State: blockedState}) // of one that does not count the next use is blocked
	if err != nil {
		p.options.Logger.Warn("the blocked skills cannot be read", "error", err)
	}
	var found map[string]string
	if p.options.Scan != nil {
		found = p.options.Scan.Blocked(catalog)
	}
	if len(rows) == 0 && len(found) == 0 {
		p.filter = filter{}
		return catalog
	}
	blocked, pins := map[string]string{}, map[string]*Pin{}
	maps.Copy(blocked, found)
	for i := range rows {
		pin := decode(&rows[i], true)
		blocked[pin.Origin], pins[pin.Origin] = pin.GrownDigest, pin
	}
	if p.filter.before != catalog || !maps.Equal(p.filter.blocked, blocked) {
		p.filter = filter{catalog, marked(catalog, pins, found), blocked}
	}
	return p.filter.after
}

// marked returns the catalog with copies of the skills that have one of the pins, or that
// were found to be blocked, for a reason.
func marked(catalog *skills.Catalog, pins map[string]*Pin, found map[string]string) *skills.Catalog {
	copies := map[*skills.Skill]*skills.Skill{}
	for _, skill := range catalog.Skills {
		owner := skill.Owner()
		origin := owner.Origin().String()
		if copies[owner] != nil {
			continue
		}
		if why := found[origin]; why != "" {
			mark(owner, why, skills.BlockedByScan, copies)
		} else if pin := pins[origin]; pin != nil && owner.Guarded() {
			mark(owner, pin.why(owner), skills.BlockedByChange, copies)
		}
	}
	return catalog.Replace(copies)
}

// why returns the reason for a model why a pin blocks a skill.
func (pin *Pin) why(owner *skills.Skill) string {
	state, ok := (&Pins{}).settled(subject{skill: owner, digest: pin.GrownDigest}, pin)
	if !ok {
		return "its difference cannot be read; look at it with: skills-mcp show " + owner.QualifiedName()
	}
	return blocked(owner, state.grown).Model
}

// mark adds copies of a skill and its tools without their texts.
func mark(owner *skills.Skill, why, by string, copies map[*skills.Skill]*skills.Skill) {
	owner.CloneTo(copies)
	for _, s := range append([]*skills.Skill{owner}, owner.Tools...) {
		block(copies[s], s, why, by)
	}
}

// block takes the texts from a copy of a skill that is blocked for a reason.
func block(copied, s *skills.Skill, why, by string) {
	copied.Blocked, copied.BlockedBy, copied.Unblocked = why, by, s
	copied.Description = "Blocked: " + by + "."
	copied.DisplayName, copied.ShortDescription, copied.DefaultPrompt, copied.WhenToUse, copied.ArgumentHint = "", "", "", "", ""
	copied.Keywords, copied.Frontmatter, copied.Resources, copied.Stored = nil, map[string]any{"name": s.Name}, nil, nil
	copied.Instructions = why
	copied.Problems = append(slices.Clone(s.Problems), skills.Problem{Severity: skills.Warning, Path: s.File, Message: strings.ReplaceAll(why, "\n", " ")})
}
