package approval

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/skillsmcp/skills-mcp/server/store"
)

// A Record is a question to people, with their answers.
type Record struct {
	ID      string    `json:"id"`
	Owner   string    `json:"principal"` // the principal that may use it; "" is the anonymous one
	Subject string    `json:"-"`
	State   string    `json:"state"`
	Expires time.Time `json:"expires"`
	content

	row store.Approval // as it was read
}

// content are the fields that the store does not read.
type content struct {
	Scope      Scope       `json:"scope"`
	Needed     int         `json:"needed"` // people
	Signatures []Signature `json:"signatures,omitempty"`
	Binding    Binding     `json:"binding"` // the calls that it covers
	Every      Binding     `json:"-"`       // those that it covers with the scope always
	Question   Question    `json:"question"`
	Made       time.Time   `json:"made"`
	Proofs     string      `json:"proofs,omitempty"` // those of the [Options]
}

// A Signature is one person's yes.
type Signature struct {
	Signer
	At time.Time `json:"at"`
}

// current reports whether a record has not expired.
func (r *Record) current() bool { return time.Now().Before(r.Expires) }

// concerns reports whether a record may let a call run: it is of the same principal, or
// of several people who confirm the same call.
func (r *Record) concerns(c *call) bool { return r.Owner == c.owner || r.Needed > 1 }

// signedBy reports whether a person has confirmed a record.
func (r *Record) signedBy(who Signer) bool {
	return slices.ContainsFunc(r.Signatures, func(s Signature) bool { return s.Signer.ID == who.ID })
}

// signers returns the names of the people who have confirmed a record.
func (r *Record) signers() []string {
	var names []string
	for _, s := range r.Signatures {
		names = append(names, s.Name)
	}
	return names
}

// stored is the content of a row.
type stored struct {
	content
	Every Binding `json:"every"`
}

// encode returns the row of a record, signed.
func (a *Approvals) encode(r *Record) (store.Approval, error) {
	data, err := json.Marshal(stored{r.content, r.Every})
	if err != nil {
		return store.Approval{}, err
	}
	row := store.Approval{ID: r.ID, Owner: r.Owner, Subject: r.Subject, State: r.State, Expires: r.Expires, Content: data}
	row.MAC, err = a.key.Sum(sealed(&row)...)
	return row, err
}

// sealed returns the fields of a row that its MAC is of.
func sealed(row *store.Approval) []string {
	return []string{"approval", row.ID, row.Owner, row.Subject, row.State, strconv.FormatInt(row.Expires.Unix(), 10), string(row.Content)}
}

// add stores a new record.
func (a *Approvals) add(ctx context.Context, r *Record) error {
	r.Proofs = a.options.Proofs
	row, err := a.encode(r)
	if err != nil {
		return err
	}
	r.row = row
	return a.store.AddApproval(ctx, row, a.options.Pending)
}

// replace changes a record, in the store too. It reports false if another process has
// changed it since.
func (a *Approvals) replace(ctx context.Context, r *Record, change func(*Record)) (bool, error) {
	before := r.row
	changed := *r
	changed.Signatures = slices.Clone(r.Signatures)
	change(&changed)
	row, err := a.encode(&changed)
	if err != nil {
		return false, err
	}
	replaced, err := a.store.ReplaceApproval(ctx, before, row)
	if replaced {
		changed.row = row
		*r = changed
	}
	return replaced, err
}

// about returns the records about a skill, or all for "", the newest first. Rows that were
// not written by this package are left out.
func (a *Approvals) about(ctx context.Context, subject string) ([]*Record, error) {
	rows, err := a.store.Approvals(ctx, subject)
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, row := range rows {
		if r := a.open(row); r != nil {
			all = append(all, r)
		}
	}
	return all, nil
}

// open returns the record of a row, or nil if the row does not count.
func (a *Approvals) open(row store.Approval) *Record {
	var s stored
	if !a.key.Valid(row.MAC, sealed(&row)...) || json.Unmarshal(row.Content, &s) != nil {
		a.options.Logger.Warn("an approval does not count: it was not written by skills-mcp", "approval", row.ID)
		return nil
	}
	s.content.Every = s.Every
	return &Record{ID: row.ID, Owner: row.Owner, Subject: row.Subject, State: row.State, Expires: row.Expires, content: s.content, row: row}
}
