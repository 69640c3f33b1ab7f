package pins

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// Check returns the capabilities that a skill has gained since it was accepted; none if
// it may go on. Digest is the digest of the skill's files, and folder a host folder that
// has them, unchanging. The first files of a skill that somebody else publishes are
// accepted, but for what one of a trusted workspace asks for: that needs a person. A skill
// of the person's own is compared only if they approved it once.
//
// Files with the digest of the last check cost a lookup in memory.
func (p *Pins) Check(ctx context.Context, skill *skills.Skill, digest, folder string) ([]surface.Change, error) {
	now, err := p.check(ctx, skill, digest, folder)
	return now.grown, err
}

func (p *Pins) check(ctx context.Context, skill *skills.Skill, digest, folder string) (state, error) {
	skill = asRead(skill)
	origin := skill.Origin()
	if origin.Kind == skills.OriginBundled {
		return state{}, nil
	}
	s := subject{skill, origin.String(), digest, folder}
	if known := p.last(s.key); known.digest == digest && known.trusted == s.trusted() && len(known.grown) == 0 {
		return known, nil
	}
	select {
	case p.slow <- struct{}{}:
	case <-ctx.Done():
		return state{}, context.Cause(ctx)
	}
	defer func() { <-p.slow }()
	return p.compare(ctx, s)
}

// maxTries bounds the attempts to write a pin that others write meanwhile.
const maxTries = 5

// compare compares a skill with its pin, and writes the pin that follows. The caller
// holds slow.
func (p *Pins) compare(ctx context.Context, s subject) (state, error) {
	for range maxTries {
		pin := p.pin(ctx, s.key)
		if pin == nil {
			if pin = p.predecessor(ctx, s); pin != nil && !p.put(ctx, pin, nil) {
				continue
			}
		}
		if now, ok := p.settled(s, pin); ok {
			return p.remember(s, now, pin), nil
		}
		next, now, err := p.next(s, pin)
		if err != nil {
			return state{}, err
		}
		if len(now.grown) > 0 && s.own() || p.put(ctx, next, pin) {
			p.log(s, now, pin)
			return p.remember(s, now, next), nil
		}
	}
	return state{}, fmt.Errorf("pin skill %s: other processes write the pin all the time", s.skill.QualifiedName())
}

// settled returns the state of a skill that needs no comparison.
func (p *Pins) settled(s subject, pin *Pin) (state, bool) {
	known := p.last(s.key)
	switch {
	case pin == nil:
		return state{digest: s.digest}, s.own()
	case pin.Digest == s.digest:
		return state{digest: s.digest, ancestors: pin.Ancestors, pinned: true}, pin.GrownDigest == ""
	case known.digest == s.digest && !known.asks && known.base == pin.Digest && (s.own() || pin.GrownDigest == s.digest):
		return known, true
	case pin.GrownDigest == s.digest && !s.own():
		return state{digest: s.digest, grown: pin.Grown, base: pin.Digest, pinned: true}, len(pin.Grown) > 0
	}
	return state{}, false
}

// next returns the pin that follows on one that may be nil, and the state with it: the
// first, one that moved to other files, or one that is blocked.
func (p *Pins) next(s subject, pin *Pin) (*Pin, state, error) {
	if pin != nil && pin.Digest == s.digest { // its files came back
		next := *pin
		next.GrownDigest, next.Grown = "", nil
		return &next, state{digest: s.digest, ancestors: pin.Ancestors, pinned: true}, nil
	}
	next, err := p.accepted(s)
	if err != nil || pin == nil {
		return next, state{digest: s.digest, pinned: true}, err
	}
	if grown := next.Surface.Grown(pin.Surface); len(grown) > 0 {
		blocked := *pin
		blocked.GrownDigest, blocked.Grown = s.digest, grown
		return &blocked, state{digest: s.digest, grown: grown, base: pin.Digest, pinned: true}, nil
	}
	next.Acceptance, next.ByPerson, next.row = pin.Acceptance, pin.ByPerson, pin.row
	next.Ancestors = append([]string{pin.Digest}, pin.Ancestors...)
	next.Ancestors = next.Ancestors[:min(len(next.Ancestors), maxAncestors)]
	return next, state{digest: s.digest, ancestors: next.Ancestors, pinned: true}, nil
}

// maxAncestors bounds the digests that a pin remembers.
const maxAncestors = 16

// accepted returns the pin that accepts a skill as it is.
func (p *Pins) accepted(s subject) (*Pin, error) {
	now, err := surface.Of(s.skill, skillfs.DirFS(s.folder))
	if err != nil {
		return nil, fmt.Errorf("compute the surface of skill %s: %w", s.skill.QualifiedName(), err)
	}
	return &Pin{
		Origin:     s.key,
		Acceptance: Acceptance{s.skill.Owner().QualifiedName(), s.digest, time.Now()},
		progress:   progress{Digest: s.digest, Surface: now},
	}, nil
}

// log reports a pin that moved, or a skill that was blocked.
func (p *Pins) log(s subject, now state, pin *Pin) {
	switch name := s.skill.QualifiedName(); {
	case pin == nil || s.own():
	case len(now.grown) > 0:
		p.options.Logger.Warn("a skill has gained capabilities, and is blocked until a person accepts them", "skill", name, "gained", lines(now.grown), "digest", s.digest)
	case pin.Digest != s.digest:
		p.options.Logger.Info("a skill has changed and gained no capability", "skill", name, "digest", s.digest, "before", pin.Digest)
	}
}

// lines returns changes as lines.
func lines(changes []surface.Change) []string {
	var all []string
	for _, c := range changes {
		all = append(all, c.String())
	}
	return all
}

// Accept records that a person has accepted a skill with the files of a folder, which
// have the digest. For a skill of the person's own it is the state that later changes
// are compared with.
func (p *Pins) Accept(ctx context.Context, skill *skills.Skill, digest, folder string) error {
	skill = asRead(skill)
	origin := skill.Origin()
	if origin.Kind == skills.OriginBundled {
		return nil
	}
	s := subject{skill, origin.String(), digest, folder}
	select {
	case p.slow <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-p.slow }()
	next, err := p.accepted(s)
	if err != nil {
		return err
	}
	next.row, err = p.table.New(ctx, next.Acceptance)
	switch {
	case err == nil:
		next.ByPerson = true
	case !errors.Is(err, seal.ErrLocked):
		return err
	case p.pin(ctx, s.key) == nil: // a first use
	default:
		now, err := p.compare(ctx, s)
		if err == nil && len(now.grown) > 0 {
			err = seal.ErrLocked
		}
		return err
	}
	for range maxTries {
		if p.put(ctx, next, p.pin(ctx, s.key)) {
			p.remember(s, state{digest: digest, pinned: true}, next)
			return nil
		}
	}
	return fmt.Errorf("pin skill %s: other processes write the pin all the time", skill.QualifiedName())
}
