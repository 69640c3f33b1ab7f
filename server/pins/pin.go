package pins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A Pin is the state of a skill that counts as accepted.
type Pin struct {
	// Origin is the skill's, as [github.com/skillsmcp/skills-mcp/skills.Origin.String]
	// writes it.
	Origin string
	// ByPerson reports that a person has accepted it, else the first use.
	ByPerson bool
	Acceptance
	progress

	row *store.Decision // as it was read or written; nil is a first use that was not
}

// An Acceptance is the part of a pin that its person signs.
type Acceptance struct {
	Name           string    `json:"name"`            // qualified, for people
	AcceptedDigest string    `json:"accepted_digest"` // that was accepted at the time
	Accepted       time.Time `json:"accepted"`
}

// progress is the part of a pin that follows a skill which gains nothing.
type progress struct {
	// Digest is the digest of the files, and Surface their capability surface.
	Digest  string           `json:"digest"`
	Surface *surface.Surface `json:"surface"`
	// Ancestors are the digests that the skill had before without gaining anything since,
	// the newest first.
	Ancestors []string `json:"ancestors,omitempty"`
	// GrownDigest is the digest of files that have gained Grown, for which the skill is
	// blocked; "" is none.
	GrownDigest string           `json:"grown_digest,omitempty"`
	Grown       []surface.Change `json:"grown,omitempty"`
}

const (
	// kind is that of pins among the decisions.
	kind = "pin"
	// blockedState is the state of the pin of a skill that is blocked.
	blockedState = "blocked"
)

// accepters name the keys that may accept a skill: a script installs one that gains nothing.
var accepters = []string{seal.Person, seal.Script}

// encode returns the row of a pin, with the proof of the acceptance if there is one.
func (p *Pin) encode() (*store.Decision, error) {
	d := &store.Decision{Key: p.Origin, About: p.Name}
	if p.GrownDigest != "" {
		d.State = blockedState
	}
	var err1, err2 error
	d.Notes, err1 = json.Marshal(p.progress)
	if p.ByPerson {
		d.Body, d.Proofs = p.row.Body, p.row.Proofs
	} else {
		d.Body, err2 = json.Marshal(p.Acceptance)
	}
	return d, errors.Join(err1, err2)
}

// decode returns the pin of a row. One that does not count accepts nothing: the skill has
// gained all that it can do, so it needs a person. To be no pin would make the next use the
// first.
func decode(d *store.Decision, counts bool) *Pin {
	p := &Pin{Origin: d.Key, ByPerson: len(d.Proofs) > 0, row: d}
	if !counts || errors.Join(json.Unmarshal(d.Body, &p.Acceptance), json.Unmarshal(d.Notes, &p.progress)) != nil || p.Surface == nil {
		return &Pin{Origin: d.Key, Acceptance: Acceptance{Name: d.About}, progress: progress{Surface: &surface.Surface{}}, row: d}
	}
	return p
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
