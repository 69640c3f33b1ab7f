// Package pins remembers, for each skill that the person has not written, the files and
// the capability surface that were accepted, and finds what a changed skill has gained
// since. A skill that gained something is blocked until a person accepts it.
//
// Start with [New]; call [Pins.Check] with the snapshot of each use.
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
}

// Options configure [Pins]. The zero value is usable.
type Options struct {
	// Changed is called, from the goroutine of the method that noticed, after a skill has
	// been blocked or accepted; nil is not called.
	Changed func()
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
	// Logger gets the pins that moved, and the skills that were blocked; nil discards
	// them.
	Logger *slog.Logger
}

// Pins are the accepted states of skills. They may be used concurrently.
type Pins struct {
	store   Store
	options Options

	mu    sync.RWMutex
	known map[string]state // by origin; guarded by mu

	slow sync.Mutex // held while a surface is computed and written: each is computed once
}

// A state is the last known one of a skill.
type state struct {
	digest string
	// grown are the lines of the capabilities that it has gained; none is accepted.
	grown []string
}

// New returns the pins of a store, which it does not use before the first check.
// Options may be nil.
func New(s Store, options *Options) *Pins {
	p := &Pins{store: s, known: map[string]state{}}
	if options != nil {
		p.options = *options
	}
	p.options.Logger = cmp.Or(p.options.Logger, slog.New(slog.DiscardHandler))
	if p.options.Now == nil {
		p.options.Now = time.Now
	}
	return p
}

// Check returns the capabilities that a skill has gained since it was accepted, a line
// each; none if it may go on. Digest is the digest of the skill's files, and folder the
// host folder that has them, unchanging. The first files of a skill that somebody else
// publishes are accepted; one of the person's own is compared only if they approved it.
//
// Files with the digest of the last check cost a lookup in memory.
func (p *Pins) Check(ctx context.Context, skill *skills.Skill, digest, folder string) (grown []string, err error) {
	origin := skill.Origin()
	if origin.Kind == skills.OriginBundled {
		return nil, nil
	}
	key := origin.String()
	p.mu.RLock()
	known := p.known[key]
	p.mu.RUnlock()
	if known.digest == digest && len(known.grown) == 0 {
		return nil, nil
	}
	return p.compare(ctx, skill, key, state{digest, known.grown}, folder)
}

// compare is Check for files that are not known to be accepted.
func (p *Pins) compare(ctx context.Context, skill *skills.Skill, key string, now state, folder string) (grown []string, err error) {
	p.slow.Lock()
	defer p.slow.Unlock()
	for range maxTries {
		pin, err := p.store.Pin(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("read pin: %w", err)
		}
		switch {
		case pin == nil && skill.Origin().Kind == skills.OriginOwn, pin != nil && pin.Digest == now.digest:
			p.remember(skill, key, state{digest: now.digest})
			return nil, nil
		}
		next, grown, err := p.next(skill, key, pin, now.digest, folder)
		if err != nil {
			return nil, err
		}
		if len(grown) > 0 {
			p.remember(skill, key, state{now.digest, grown})
			return grown, nil
		}
		done, err := p.put(ctx, next, pin)
		if err != nil {
			return nil, err
		}
		if done {
			p.remember(skill, key, state{digest: now.digest})
			return nil, nil
		}
	}
	return nil, fmt.Errorf("pin %s: other processes write it all the time", key)
}

// maxTries bounds the attempts to write a pin that others write meanwhile.
const maxTries = 5

// next returns the pin of files with a digest, in place of one that may be nil, or the
// lines of what they gained.
func (p *Pins) next(skill *skills.Skill, key string, pin *store.Pin, digest, folder string) (next store.Pin, grown []string, err error) {
	now, err := surface.Of(skill, skillfs.DirFS(folder))
	if err != nil {
		return next, nil, fmt.Errorf("compute the surface of skill %s: %w", skill.QualifiedName(), err)
	}
	encoded, err := json.Marshal(now)
	if err != nil {
		return next, nil, err
	}
	next = store.Pin{Origin: key, Name: skill.QualifiedName(), Digest: digest, Surface: encoded, AcceptedDigest: digest, Accepted: p.options.Now()}
	if pin == nil {
		return next, nil, nil
	}
	accepted, err := decode(pin)
	if err != nil {
		return next, nil, err
	}
	for _, change := range now.Grown(accepted) {
		grown = append(grown, change.String())
	}
	next.AcceptedDigest, next.Accepted, next.ByPerson, next.Moved = pin.AcceptedDigest, pin.Accepted, pin.ByPerson, p.options.Now()
	return next, grown, nil
}

// decode returns the surface of a pin.
func decode(pin *store.Pin) (*surface.Surface, error) {
	var s surface.Surface
	if err := json.Unmarshal(pin.Surface, &s); err != nil {
		return nil, fmt.Errorf("read the pin of %s: %w", pin.Origin, err)
	}
	return &s, nil
}

// put writes a pin in place of another, which may be nil.
func (p *Pins) put(ctx context.Context, next store.Pin, pin *store.Pin) (done bool, err error) {
	was := ""
	if pin != nil {
		was = pin.Digest
	}
	done, err = p.store.PutPin(ctx, next, was)
	if err != nil {
		return false, fmt.Errorf("write pin: %w", err)
	}
	if done && pin != nil {
		p.options.Logger.Info("a skill has changed and gained no capability", "skill", next.Name, "digest", next.Digest, "before", was)
	}
	return done, nil
}

// remember keeps the state of a skill, and reports a skill that was blocked or accepted.
func (p *Pins) remember(skill *skills.Skill, key string, now state) {
	p.mu.Lock()
	before := p.known[key]
	p.known[key] = now
	p.mu.Unlock()
	blocked := len(now.grown) > 0
	if blocked && before.digest != now.digest {
		p.options.Logger.Warn("a skill has gained capabilities, and is blocked until a person accepts them", "skill", skill.QualifiedName(), "gained", len(now.grown))
	}
	if blocked != (len(before.grown) > 0) && p.options.Changed != nil {
		p.options.Changed()
	}
}

// Accept records that a person has accepted a skill with the files of a folder, which
// have the digest. For a skill of the person's own it is the state that later changes
// are compared with.
func (p *Pins) Accept(ctx context.Context, skill *skills.Skill, digest, folder string) error {
	origin := skill.Origin()
	if origin.Kind == skills.OriginBundled {
		return nil
	}
	key := origin.String()
	p.slow.Lock()
	defer p.slow.Unlock()
	for range maxTries {
		pin, err := p.store.Pin(ctx, key)
		if err != nil {
			return fmt.Errorf("read pin: %w", err)
		}
		next, _, err := p.next(skill, key, nil, digest, folder)
		if err != nil {
			return err
		}
		next.ByPerson = true
		done, err := p.put(ctx, next, pin)
		if err != nil {
			return err
		}
		if done {
			p.remember(skill, key, state{digest: digest})
			return nil
		}
	}
	return fmt.Errorf("pin %s: other processes write it all the time", key)
}

// Blocked returns the capabilities that a skill has gained since it was accepted, as far
// as a check has found any. It reads nothing.
func (p *Pins) Blocked(skill *skills.Skill) (grown []string) {
	if skill.Origin().Kind == skills.OriginOwn {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.known[skill.Origin().String()].grown
}
