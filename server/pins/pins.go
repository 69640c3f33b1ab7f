// Package pins remembers, for each skill that the person has not written, the files and
// the capability surface that were accepted, and finds what a changed skill has gained
// since. A skill that gained something is blocked until a person accepts it.
//
// Start with [New], whose result answers the policy ([Pins.Grown]), those who pass on a
// skill's texts ([Pins.Text]) and those who publish catalogs ([Pins.Apply]).
package pins

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A Snapshotter returns the digest of the current files of a skill, and a host folder
// that has them, unchanging; or with a digest the folder that had those, "" if it is not
// kept. It must return when ctx is done, and cost little for a skill that has not changed.
type Snapshotter func(ctx context.Context, skill *skills.Skill, had string) (digest, folder string, err error)

// Options configure [Pins]. The zero value is usable.
type Options struct {
	// Logger gets the pins that moved, the skills that were blocked, and a store that
	// does not work; nil discards them.
	Logger *slog.Logger
	// Scan blocks skills by the findings in their files; nil blocks none.
	Scan Scan
}

// A Scan knows the findings in the files of skills.
type Scan interface {
	// Refuse returns a [*run.Error] for a skill that files with a digest block.
	Refuse(skill *skills.Skill, digest string, files fs.FS) error
	// Blocked returns the reasons, by origin, of the skills of a catalog that are blocked,
	// as far as is known without reading anything.
	Blocked(catalog *skills.Catalog) map[string]string
}

// Pins are the accepted states of skills. They may be used concurrently, also by several
// processes with one store. Where the store does not work they are kept in memory.
type Pins struct {
	store    *store.Store
	table    *seal.Table
	snapshot Snapshotter
	options  Options

	mu    sync.RWMutex
	known map[string]state // by origin; guarded by mu

	slow   chan struct{}   // holds one token while a state is compared: each once
	memory map[string]*Pin // what the store could not; guarded by slow

	filter filter
}

// A state is the result of the last comparison of a skill.
type state struct {
	digest    string
	ancestors []string
	pinned    bool
	// grown has the capabilities gained since the pin with the digest base; none is accepted.
	grown []surface.Change
	base  string
	// trusted reports that the person trusted the skill's workspace, and asks that grown
	// has what it asks for there, which nobody has accepted.
	trusted, asks bool
}

// A filter remembers the copies of the skills of one catalog that are blocked.
type filter struct {
	before, after *skills.Catalog
	blocked       map[string]string // digests by origin
}

// New returns the pins of a store, whose rows are signed with key. It uses neither before
// the first check. Options may be nil.
func New(s *store.Store, key *seal.Key, snapshot Snapshotter, options *Options) *Pins {
	p := &Pins{store: s, snapshot: snapshot, known: map[string]state{}, slow: make(chan struct{}, 1), memory: map[string]*Pin{}}
	if options != nil {
		p.options = *options
	}
	p.options.Logger = cmp.Or(p.options.Logger, slog.New(slog.DiscardHandler))
	p.table = seal.NewTable(kind, s, key, &seal.Options{Signers: accepters, Noted: true, Logger: p.options.Logger})
	return p
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

// remember keeps the result of a comparison with a pin, which may be nil.
func (p *Pins) remember(s subject, now state, pin *Pin) state {
	if len(now.grown) == 0 {
		now.grown = s.unaccepted(pin)
		now.asks = len(now.grown) > 0
	}
	now.trusted = s.trusted()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[s.key] = now
	return now
}

// A subject is a skill with the files that are compared.
type subject struct {
	skill               *skills.Skill
	key, digest, folder string
}

// own reports whether the skill is never blocked.
func (s subject) own() bool { return !s.skill.Guarded() }

// trusted reports whether the skill is one of a workspace that the person trusts.
func (s subject) trusted() bool {
	owner := s.skill.Owner()
	return owner.Workspace != "" && owner.Trusted
}

// unaccepted returns the capabilities that trust in its workspace would give the skill, if
// no person has accepted it: it may have come after they trusted the workspace.
func (s subject) unaccepted(pin *Pin) []surface.Change {
	if !s.trusted() || pin != nil && pin.ByPerson {
		return nil
	}
	return surface.Declared(s.skill)
}

// find returns the pin of an origin in the store; nil without one. counts is false for a
// row that something else has written: its pin accepts nothing.
func (p *Pins) find(ctx context.Context, key string) (pin *Pin, counts bool, err error) {
	d, err := p.table.Get(ctx, key)
	if d == nil {
		return nil, false, err
	}
	return decode(d, err == nil), err == nil, nil
}

// pin returns the pin of an origin, or nil. It replaces a row that does not count. The
// caller holds slow.
func (p *Pins) pin(ctx context.Context, key string) *Pin {
	pin, counts, err := p.find(ctx, key)
	if err != nil {
		p.options.Logger.Warn("the accepted version of a skill cannot be read; until it can, the one of this process counts", "origin", key, "error", err)
	}
	if kept := p.memory[key]; kept != nil && pin == nil {
		return kept
	}
	if pin != nil && !counts {
		p.put(ctx, pin, pin) // or the next one to read it does
	}
	return pin
}

// errMoved is returned for a pin that another process has written meanwhile.
var errMoved = errors.New("the pin was written meanwhile")

// put writes a pin in place of another, which may be nil. It reports whether nobody has
// written meanwhile.
func (p *Pins) put(ctx context.Context, next, before *Pin) bool {
	care := store.Quiet
	if next.GrownDigest != "" || before != nil && before.GrownDigest != "" || next.ByPerson {
		care = store.Announced
	}
	row, err := next.encode()
	if err == nil {
		err = p.table.Change(ctx, care, next.Origin, func(now *store.Decision) (*store.Decision, error) {
			var was []byte // a pin that is only in memory has none
			if before != nil && before.row != nil {
				was = before.row.MAC
			}
			if now == nil && was != nil || now != nil && !bytes.Equal(now.MAC, was) {
				return nil, errMoved
			}
			return row, nil
		})
	}
	switch {
	case errors.Is(err, errMoved):
		return false
	case err != nil:
		p.options.Logger.Warn("the accepted version of a skill cannot be recorded; it counts until this process ends", "origin", next.Origin, "error", err)
		p.memory[next.Origin] = next
		row.MAC, next.row = nil, row
		return true
	}
	next.row = row
	delete(p.memory, next.Origin)
	return true
}
