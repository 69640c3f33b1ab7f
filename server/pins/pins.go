// Package pins remembers, for each skill that the person has not written, the files and
// the capability surface that were accepted, and finds what a changed skill has gained
// since. A skill that gained something is blocked until a person accepts it.
//
// Start with [New], whose result answers the policy ([Pins.Grown]), those who pass on a
// skill's texts ([Pins.Text]) and those who publish catalogs ([Pins.Apply]).
package pins

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A Store keeps pins, as [store.Store] does.
type Store interface {
	// Pin returns the pin of an origin; nil if there is none.
	Pin(ctx context.Context, origin string) (*store.Pin, error)
	// PutPin writes a pin in place of the one with the digest was, "" for none. It
	// reports false if that is no longer the one.
	PutPin(ctx context.Context, p store.Pin, was string) (bool, error)
	// Pins returns all pins.
	Pins(ctx context.Context) ([]store.Pin, error)
	// BlockedPins returns the pins of the skills that are blocked.
	BlockedPins(ctx context.Context) ([]store.Pin, error)
}

// A Snapshotter returns the digest of the current files of a skill, and a host folder
// that has them, unchanging. It must return when ctx is done, and cost little for a skill
// that has not changed.
type Snapshotter func(ctx context.Context, skill *skills.Skill) (digest, folder string, err error)

// Options configure [Pins]. The zero value is usable.
type Options struct {
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
	// Logger gets the pins that moved, the skills that were blocked, and a store that
	// does not work; nil discards them.
	Logger *slog.Logger
}

// Pins are the accepted states of skills. They may be used concurrently, also by several
// processes with one store. Where the store does not work they are kept in memory.
type Pins struct {
	store    Store
	snapshot Snapshotter
	options  Options

	mu    sync.RWMutex
	known map[string]state // by origin; guarded by mu

	slow   chan struct{}        // holds one token while a state is compared: each once
	memory map[string]store.Pin // what the store could not; guarded by slow

	filter filter
}

// A state is the result of the last comparison of a skill.
type state struct {
	digest    string
	ancestors []string
	pinned    bool
	// grown has what was gained since the pin with the digest base; none is accepted.
	grown []surface.Change
	base  string
}

// New returns the pins of a store, which it does not use before the first check.
// Options may be nil.
func New(s Store, snapshot Snapshotter, options *Options) *Pins {
	p := &Pins{store: s, snapshot: snapshot, known: map[string]state{}, slow: make(chan struct{}, 1), memory: map[string]store.Pin{}}
	if options != nil {
		p.options = *options
	}
	p.options.Logger = cmp.Or(p.options.Logger, slog.New(slog.DiscardHandler))
	if p.options.Now == nil {
		p.options.Now = time.Now
	}
	return p
}

// Check returns the capabilities that a skill has gained since it was accepted; none if
// it may go on. Digest is the digest of the skill's files, and folder a host folder that
// has them, unchanging. The first files of a skill that somebody else publishes are
// accepted; one of the person's own is compared only if they approved it once.
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
	key := origin.String()
	if known := p.last(key); known.digest == digest && len(known.grown) == 0 {
		return known, nil
	}
	select {
	case p.slow <- struct{}{}:
	case <-ctx.Done():
		return state{}, context.Cause(ctx)
	}
	defer func() { <-p.slow }()
	return p.compare(ctx, subject{skill, key, digest, folder})
}

// asRead returns a skill with its own texts, also if it is blocked.
func asRead(skill *skills.Skill) *skills.Skill {
	if skill.Unblocked != nil {
		return skill.Unblocked
	}
	return skill
}

// last returns the result of the last comparison of an origin.
func (p *Pins) last(key string) state {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.known[key]
}

// remember keeps the result of a comparison.
func (p *Pins) remember(key string, now state) state {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[key] = now
	return now
}

// A subject is a skill with the files that are compared.
type subject struct {
	skill               *skills.Skill
	key, digest, folder string
}

// own reports whether the person edits the skill: it is never blocked.
func (s subject) own() bool { return s.skill.Origin().Kind == skills.OriginOwn }

// maxTries bounds the attempts to write a pin that others write meanwhile.
const maxTries = 5

// compare compares a skill with its pin, and writes the pin that follows. The caller
// holds slow.
func (p *Pins) compare(ctx context.Context, s subject) (state, error) {
	for range maxTries {
		pin := p.pin(ctx, s.key)
		if pin == nil {
			if pin = p.predecessor(ctx, s); pin != nil && !p.put(ctx, *pin, nil) {
				continue
			}
		}
		if now, ok := p.settled(s, pin); ok {
			return p.remember(s.key, now), nil
		}
		next, now, err := p.next(s, pin)
		if err != nil {
			return state{}, err
		}
		if len(now.grown) > 0 && s.own() || p.put(ctx, next, pin) {
			p.log(s, now, pin)
			return p.remember(s.key, now), nil
		}
	}
	return state{}, fmt.Errorf("pin skill %s: other processes write the pin all the time", s.skill.QualifiedName())
}

// settled returns the state of a skill that needs no comparison.
func (p *Pins) settled(s subject, pin *store.Pin) (state, bool) {
	known := p.last(s.key)
	switch {
	case pin == nil:
		return state{digest: s.digest}, s.own()
	case pin.Digest == s.digest:
		return state{digest: s.digest, ancestors: pin.Ancestors, pinned: true}, pin.GrownDigest == ""
	case known.digest == s.digest && known.base == pin.Digest && (s.own() || pin.GrownDigest == s.digest):
		return known, true
	case pin.GrownDigest == s.digest && !s.own():
		var grown []surface.Change
		err := json.Unmarshal(pin.Grown, &grown)
		return state{digest: s.digest, grown: grown, base: pin.Digest, pinned: true}, err == nil && len(grown) > 0
	}
	return state{}, false
}

// next returns the pin that follows on one that may be nil, and the state with it: the
// first, one that moved to other files, or one that is blocked.
func (p *Pins) next(s subject, pin *store.Pin) (store.Pin, state, error) {
	if pin != nil && pin.Digest == s.digest { // its files came back
		next := *pin
		next.GrownDigest, next.Grown = "", nil
		return next, state{digest: s.digest, ancestors: pin.Ancestors, pinned: true}, nil
	}
	now, next, err := p.accepted(s, false)
	if err != nil || pin == nil {
		return next, state{digest: s.digest, pinned: true}, err
	}
	accepted, err := decode(pin)
	if err != nil {
		return next, state{}, err
	}
	if grown := now.Grown(accepted); len(grown) > 0 {
		next = *pin
		next.GrownDigest = s.digest
		next.Grown, err = json.Marshal(grown)
		return next, state{digest: s.digest, grown: grown, base: pin.Digest, pinned: true}, err
	}
	next.AcceptedDigest, next.Accepted, next.ByPerson, next.Moved = pin.AcceptedDigest, pin.Accepted, pin.ByPerson, p.options.Now()
	next.Ancestors = append([]string{pin.Digest}, pin.Ancestors...)
	next.Ancestors = next.Ancestors[:min(len(next.Ancestors), maxAncestors)]
	return next, state{digest: s.digest, ancestors: next.Ancestors, pinned: true}, nil
}

// maxAncestors bounds the digests that a pin remembers.
const maxAncestors = 16

// accepted returns the surface of a skill, and the pin that accepts it.
func (p *Pins) accepted(s subject, byPerson bool) (*surface.Surface, store.Pin, error) {
	now, err := surface.Of(s.skill, skillfs.DirFS(s.folder))
	if err != nil {
		return nil, store.Pin{}, fmt.Errorf("compute the surface of skill %s: %w", s.skill.QualifiedName(), err)
	}
	encoded, err := json.Marshal(now)
	return now, store.Pin{
		Origin: s.key, Name: s.skill.Owner().QualifiedName(), Digest: s.digest, Surface: encoded,
		AcceptedDigest: s.digest, Accepted: p.options.Now(), ByPerson: byPerson,
	}, err
}

// decode returns the surface of a pin.
func decode(pin *store.Pin) (*surface.Surface, error) {
	var s surface.Surface
	if err := json.Unmarshal(pin.Surface, &s); err != nil {
		return nil, fmt.Errorf("read the pin of %s: %w", pin.Origin, err)
	}
	return &s, nil
}

// pin returns the pin of an origin, or nil.
func (p *Pins) pin(ctx context.Context, key string) *store.Pin {
	pin, err := p.store.Pin(ctx, key)
	if err != nil {
		p.options.Logger.Warn("the accepted version of a skill cannot be read; until it can, the one of this process counts", "origin", key, "error", err)
	}
	if kept, ok := p.memory[key]; ok && (err != nil || pin == nil) {
		return &kept
	}
	return pin
}

// put writes a pin in place of another, which may be nil. It reports whether nobody has
// written meanwhile.
func (p *Pins) put(ctx context.Context, next store.Pin, pin *store.Pin) bool {
	was := ""
	if _, kept := p.memory[next.Origin]; pin != nil && !kept {
		was = pin.Digest
	}
	done, err := p.store.PutPin(ctx, next, was)
	if err != nil {
		p.options.Logger.Warn("the accepted version of a skill cannot be recorded; it counts until this process ends", "origin", next.Origin, "error", err)
		p.memory[next.Origin] = next
		return true
	}
	if done {
		delete(p.memory, next.Origin)
	}
	return done
}

// log reports a pin that moved, or a skill that was blocked.
func (p *Pins) log(s subject, now state, pin *store.Pin) {
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
	_, next, err := p.accepted(s, true)
	if err != nil {
		return err
	}
	for range maxTries {
		if p.put(ctx, next, p.pin(ctx, s.key)) {
			p.remember(s.key, state{digest: digest, pinned: true})
			return nil
		}
	}
	return fmt.Errorf("pin skill %s: other processes write the pin all the time", skill.QualifiedName())
}
