package seal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"

	"github.com/skillsmcp/skills-mcp/server/store"
)

// Options configure a [Table]. The zero value is usable.
type Options struct {
	// Signers name the people of whom one signs each decision; nil is nobody.
	Signers []string
	// Noted reports that decisions without a signature count, too: the program has made
	// them. A signature that is replaced is not withdrawn then.
	Noted bool
	// Logger gets the decisions that do not count; nil discards them.
	Logger *slog.Logger
}

// A Table has the decisions of one kind. What it returns was written by this program, and
// signed by a person of this configuration where that is needed; a proof is of the kind and
// of the body of a decision, so that has to name what it is about. A Table may be used
// concurrently.
type Table struct {
	kind    string
	store   *store.Store
	key     *Key
	options Options
}

// NewTable returns the decisions of a kind in a store. It reads nothing. Options may be nil.
func NewTable(kind string, s *store.Store, key *Key, options *Options) *Table {
	t := &Table{kind: kind, store: s, key: key}
	if options != nil {
		t.options = *options
	}
	t.options.Logger = cmp.Or(t.options.Logger, slog.New(slog.DiscardHandler))
	return t
}

// ErrVoid is returned for a decision that does not count.
var ErrVoid = errors.New("the decision does not count: the person of this configuration has not signed it, or it was written by something else")

// Get returns the decision of a key; nil without one. For one that does not count the
// error is [ErrVoid], and the row is returned.
func (t *Table) Get(ctx context.Context, key string) (*store.Decision, error) {
	rows, err := t.store.Decisions(ctx, t.kind, store.DecisionFilter{Key: key})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if !t.Valid(&rows[0]) {
		return &rows[0], ErrVoid
	}
	return &rows[0], nil
}

// List returns the decisions of a filter that count, the newest first.
func (t *Table) List(ctx context.Context, f store.DecisionFilter) ([]store.Decision, error) {
	rows, err := t.store.Decisions(ctx, t.kind, f)
	return t.Counting(rows), err
}

// Counting returns those of some rows that count.
func (t *Table) Counting(rows []store.Decision) []store.Decision {
	return slices.DeleteFunc(rows, func(d store.Decision) bool { return !t.Valid(&d) })
}

// Transact runs a function that changes decisions, in one transaction. It seals what it
// puts by [Table.Seal].
func (t *Table) Transact(ctx context.Context, care store.Care, change func(*store.Decisions) error) error {
	return t.store.ChangeDecisions(ctx, care, t.kind, change)
}

// Change replaces the decision of a key by the result of change, which it seals. nil is
// none, also for change. An error changes nothing. A signature that is replaced never
// counts again.
func (t *Table) Change(ctx context.Context, care store.Care, key string, change func(now *store.Decision) (*store.Decision, error)) error {
	return t.Transact(ctx, care, func(tx *store.Decisions) error {
		var now *store.Decision
		rows, err := tx.Select(store.DecisionFilter{Key: key})
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			now = &rows[0]
		}
		next, err := change(now)
		if err == nil && now != nil && !t.options.Noted {
			err = t.Withdraw(now)
		}
		switch {
		case err != nil:
			return err
		case next == nil:
			return tx.Remove(key)
		}
		next.Key = key
		if err := t.Seal(next); err != nil {
			return err
		}
		return tx.Put(*next)
	})
}

// Remove removes the decision of a key for ever. It reports whether there was one.
func (t *Table) Remove(ctx context.Context, key string) (found bool, err error) {
	rows, err := t.store.Decisions(ctx, t.kind, store.DecisionFilter{Key: key})
	if err != nil || len(rows) == 0 {
		return false, err
	}
	return true, t.Change(ctx, store.Announced, key, func(*store.Decision) (*store.Decision, error) { return nil, nil })
}

// Sign adds the proof that one of some people has decided so, with more texts of which it
// is the proof. The error is [ErrLocked] if none of them has been proved.
func (t *Table) Sign(ctx context.Context, d *store.Decision, who []string, more ...string) error {
	proof, err := t.key.Sign(ctx, who, t.signed(d, more)...)
	if err == nil {
		d.Proofs = append(d.Proofs, proof)
	}
	return err
}

// New returns a decision that its signer has made: one of the table's, whose proof it has.
func (t *Table) New(ctx context.Context, body any) (*store.Decision, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	d := &store.Decision{Body: text}
	if t.options.Signers != nil {
		err = t.Sign(ctx, d, t.options.Signers)
	}
	return d, err
}

// Signed reports whether one of some people has made the proof of a number, and it was not
// withdrawn.
func (t *Table) Signed(d *store.Decision, i int, who []string, more ...string) bool {
	return i < len(d.Proofs) && t.key.Signed(who, d.Proofs[i], t.signed(d, more)...)
}

// signed returns the texts that a person signs.
func (t *Table) signed(d *store.Decision, more []string) []string {
	return append([]string{t.kind, string(d.Body)}, more...)
}

// Withdraw ends the proofs of a decision, in all processes.
func (t *Table) Withdraw(d *store.Decision) error {
	var errs []error
	for _, proof := range d.Proofs {
		errs = append(errs, t.key.Withdraw(proof, d.Expires))
	}
	return errors.Join(errs...)
}

// Seal marks a decision as written by this program.
func (t *Table) Seal(d *store.Decision) (err error) {
	d.Kind = t.kind
	d.MAC, err = t.key.Sum(sealed(d)...)
	return err
}

// sealed returns the fields that a MAC is of.
func sealed(d *store.Decision) []string {
	expires := ""
	if !d.Expires.IsZero() {
		expires = strconv.FormatInt(d.Expires.Unix(), 10)
	}
	all := []string{d.Kind, d.Key, d.Owner, d.About, d.State, expires, string(d.Body), string(d.Notes)}
	for _, proof := range d.Proofs {
		all = append(all, string(proof))
	}
	return all
}

// Valid reports whether a row counts, and logs one that does not.
func (t *Table) Valid(d *store.Decision) bool {
	proved := t.options.Signers == nil || t.options.Noted && len(d.Proofs) == 0 || t.Signed(d, 0, t.options.Signers)
	if proved && d.Kind == t.kind && t.key.Valid(d.MAC, sealed(d)...) {
		return true
	}
	t.options.Logger.Warn(ErrVoid.Error(), "kind", d.Kind, "key", d.Key)
	return false
}
