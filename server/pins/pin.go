package pins

import (
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
