package approval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/seal"
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

	client string         // that pending ones are counted for
	row    store.Decision // as it was read
}

// The states of records. Only a given one lets a call run.
const (
	Pending = "pending" // a person has not answered yet
	Given   = "given"
	Used    = "used" // a call has run by it
	Denied  = "denied"
	Revoked = "revoked" // given, and withdrawn
	// Void is a given one that does not count: the people of this configuration have not
	// signed it, or it was used or revoked before.
	Void = "void"
)

// content are the fields that people sign, but for the signatures themselves.
type content struct {
	Scope      Scope       `json:"scope"`
	Needed     int         `json:"needed"` // people
	Signatures []Signature `json:"signatures,omitempty"`
	Binding    Binding     `json:"binding"` // the calls that it covers
	Every      Binding     `json:"-"`       // those that it covers with the scope always
	OfPlugin   Binding     `json:"-"`       // those that it covers with the scope plugin
	Question   Question    `json:"question"`
	Made       time.Time   `json:"made"`
	Proofs     string      `json:"proofs,omitempty"` // the person's key
}

// A Signature is one person's yes.
type Signature struct {
	Signer
	Way Way       `json:"way"`
	At  time.Time `json:"at"`
}

// String names the person and the way of the yes.
func (s Signature) String() string { return s.Name + " " + s.Way.String() }

// current reports whether a record has not expired.
func (r *Record) current() bool { return time.Now().Before(r.Expires) }

// OwnedBy reports whether a record is about a call of a principal, in whatever session, and
// of a named one with whatever profile.
func (r *Record) OwnedBy(p identity.Principal) bool {
	return r.Owner == ownerOf(p) || p.Named() && strings.HasPrefix(r.Owner+"/", string(p.Owner())+"/")
}

// concerns reports whether a record may let a call of a principal run: it is of the same one,
// or of several who act for the person of this machine.
func (r *Record) concerns(owner string) bool {
	return r.Owner == owner || r.Needed > 1 && !isNamed(r.Owner) && !isNamed(owner)
}

// key names the calls that are one question.
func (r *Record) key() string {
	owner := r.Owner
	if r.Needed > 1 && !isNamed(owner) { // who make the same call
		owner = ""
	}
	binding, _ := json.Marshal(r.Binding) // of texts
	return digest(owner, string(binding), r.Proofs)
}

// SignedBy reports whether a person has confirmed a record.
func (r *Record) SignedBy(who Signer) bool {
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

// keys returns the names of the keys that may make a signature.
func (s *Signature) keys() []string {
	switch {
	case s.Way == ByScript:
		return []string{seal.Script}
	case s.Signer.named():
		return []string{seal.Program}
	}
	return []string{s.Signer.ID}
}

// lives reports whether a record waits for an answer, or lets calls run, or seems to.
func (r *Record) lives() bool {
	return r.current() && (r.State == Pending || r.State == Given || r.State == Void)
}

// Shown returns the question of a record with the people who have confirmed it so far.
func (r *Record) Shown() *Question {
	q := r.Question
	q.ID, q.Signed = r.ID, r.signers()
	return &q
}

// A book holds the records in a store, signed.
type book struct {
	table  *seal.Table
	limits Limits
	logger *slog.Logger

	mu    sync.Mutex
	known map[string]*Record // by ID, as they were read last; guarded by mu
}

const (
	// kind is that of approvals among the decisions.
	kind = "approval"
	// maxKnown bounds the records that are known.
	maxKnown = 256
	// recordAge is the time for which expired records are listed.
	recordAge = 30 * 24 * time.Hour
)

// statement is the part of a row that people sign.
type statement struct {
	content
	ID       string  `json:"id"`
	Owner    string  `json:"owner"`
	Every    Binding `json:"every"`
	OfPlugin Binding `json:"of_plugin"`
}

// notes are the part of a row that changes without a signature.
type notes struct {
	Signatures []Signature `json:"signatures,omitempty"`
	Client     string      `json:"client,omitempty"`
}

// encode returns the row of a record, sealed, with the proofs of its new signatures.
func (b *book) encode(ctx context.Context, r *Record) (row store.Decision, err error) {
	said := statement{r.content, r.ID, r.Owner, r.Every, r.OfPlugin}
	said.Signatures = nil
	row = store.Decision{Key: r.ID, Owner: r.Owner, About: r.Subject, State: r.State, Expires: r.Expires, Proofs: slices.Clone(r.row.Proofs)}
	if row.Body, err = json.Marshal(said); err != nil {
		return row, err
	}
	for i := len(row.Proofs); i < len(r.Signatures); i++ {
		if r.State == Used { // of which nothing has to be proved
			row.Proofs = append(row.Proofs, nil)
			continue
		}
		err := b.table.Sign(ctx, &row, r.Signatures[i].keys(), r.signed(i)...)
		if errors.Is(err, seal.ErrLocked) && r.Scope == Session { // which counts in this process only
			row.Proofs, err = append(row.Proofs, nil), nil
		}
		if err != nil {
			return row, err
		}
	}
	if row.Notes, err = json.Marshal(notes{r.Signatures, r.client}); err != nil {
		return row, err
	}
	return row, b.table.Seal(&row)
}

// signed returns the texts of which a signature is the proof, beside the statement. The
// last one is of the expiry, too.
func (r *Record) signed(i int) []string {
	s, ends := &r.Signatures[i], ""
	if i+1 == r.Needed {
		ends = strconv.FormatInt(r.Expires.Unix(), 10)
	}
	return []string{r.Subject, ends, s.Signer.ID, string(s.Way), strconv.FormatInt(s.At.UnixNano(), 10)}
}

// proved reports whether as many people as a record needs have signed it, each with their
// key. An approval of a session counts by the memory of its process.
func (b *book) proved(r *Record) bool {
	if r.Scope == Session {
		return true
	}
	if len(r.row.Proofs) != len(r.Signatures) || len(r.Signatures) < r.Needed {
		return false
	}
	signers := map[string]bool{}
	for i := range r.Signatures {
		one := &r.Signatures[i]
		if one.Way == ByScript && r.Scope != Once || !b.table.Signed(&r.row, i, one.keys(), r.signed(i)...) {
			return false
		}
		signers[one.Signer.ID] = true
	}
	return len(signers) >= r.Needed
}

var (
	// errSame is returned for a question that waits already.
	errSame = errors.New("the same question waits for an answer")
	// errTooMany is returned for a question beyond the limits.
	errTooMany = errors.New("too many questions wait for an answer")
)

// Limits bound the questions that wait for an answer: of one client about one subject, of a
// client, of a principal, and in all but those of named principals.
type Limits struct{ Subject, Client, Owner, Total int }

// admit returns an error for a question that may not wait beside others.
func (l Limits) admit(r *Record, pending []*Record) error {
	var subject, client, owner, others int
	for _, other := range pending {
		if !isNamed(other.Owner) {
			others++
		}
		switch {
		case other.key() == r.key():
			return errSame
		case other.Owner != r.Owner:
			continue
		}
		owner++
		if other.client == r.client {
			client++
			if other.Subject == r.Subject {
				subject++
			}
		}
	}
	if subject >= l.Subject || client >= l.Client || owner >= l.Owner || others >= l.Total && !isNamed(r.Owner) {
		return errTooMany
	}
	return nil
}

// add stores a new record, and removes those that expired long ago. A question is refused
// with [errSame] or [errTooMany].
func (b *book) add(ctx context.Context, r *Record) error {
	row, err := b.encode(ctx, r)
	if err != nil {
		return err
	}
	r.row = row
	return b.table.Transact(ctx, store.Durable, func(tx *store.Decisions) error {
		if err := tx.RemoveExpired(time.Now().Add(-recordAge)); err != nil {
			return err
		}
		if r.State == Pending {
			rows, err := tx.Select(store.DecisionFilter{State: Pending})
			if err != nil {
				return err
			}
			waiting := slices.DeleteFunc(b.open(b.table.Counting(rows)), func(r *Record) bool { return !r.current() })
			if err := b.limits.admit(r, waiting); err != nil {
				return err
			}
		}
		return tx.Put(row)
	})
}

// errChanged is returned for a record that another process has changed since it was read.
var errChanged = errors.New("the approval was changed meanwhile; look at it again")

// change replaces a record, in the store too, which must be as it was read.
func (b *book) change(ctx context.Context, r *Record, change func(*Record)) error {
	changed := *r
	changed.Signatures = slices.Clone(r.Signatures)
	change(&changed)
	row, err := b.encode(ctx, &changed)
	if err != nil {
		return err
	}
	err = b.table.Transact(ctx, store.Durable, func(tx *store.Decisions) error {
		rows, err := tx.Select(store.DecisionFilter{Key: r.ID})
		if err == nil && (len(rows) == 0 || rows[0].State != r.row.State || !bytes.Equal(rows[0].MAC, r.row.MAC)) {
			err = errChanged
		}
		if err != nil {
			return err
		}
		return tx.Put(row)
	})
	if err != nil {
		return err
	}
	changed.row = row
	*r = changed
	if r.State != Pending && r.State != Given {
		return b.table.Withdraw(&row)
	}
	return nil
}

// use marks an approval of one call as used. Only one call succeeds.
func (b *book) use(ctx context.Context, r *Record) (bool, error) {
	if !b.proved(r) { // it was used since it was read
		return false, nil
	}
	err := b.change(ctx, r, func(r *Record) { r.State = Used })
	if errors.Is(err, errChanged) {
		return false, nil
	}
	return err == nil, err
}

// bindTo makes a record cover the calls of a scope.
func (r *Record) bindTo(scope Scope) {
	exact := r.Binding
	switch scope {
	case Once:
		return
	case WholePlugin:
		r.Binding, r.Subject = r.OfPlugin, r.OfPlugin.Skill
		return
	}
	r.Binding = r.Every
	switch scope {
	case Same:
		r.Binding.Args = exact.Args
	case BelowFolder:
		r.Binding.Args = r.Question.Below.Args
	}
}

// find returns the records of a filter that the program has written, the newest first.
func (b *book) find(ctx context.Context, f store.DecisionFilter) ([]*Record, error) {
	rows, err := b.table.List(ctx, f)
	return b.open(rows), err
}

// open returns the records of rows that count.
func (b *book) open(rows []store.Decision) (all []*Record) {
	for _, row := range rows {
		r, err := b.read(row)
		if err != nil {
			b.logger.Warn("an approval cannot be read", "approval", row.Key, "error", err)
			continue
		}
		if r.State == Given && !b.proved(r) {
			b.logger.Warn("an approval does not count: the people of this configuration have not signed it, or it was used or revoked before", "approval", row.Key)
			r.State = Void
		}
		all = append(all, r)
	}
	return all
}

// read returns a copy of the record of a row. One that is as it was read last is not
// decoded again: that took a fifth of the share of an approved call.
func (b *book) read(row store.Decision) (*Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.known[row.Key]
	if r == nil || !bytes.Equal(r.row.MAC, row.MAC) {
		var err error
		if r, err = decode(row); err != nil {
			return nil, err
		}
		if b.known == nil || len(b.known) >= maxKnown {
			b.known = map[string]*Record{}
		}
		b.known[row.Key] = r
	}
	c := *r
	return &c, nil
}

// decode returns the record of a row.
func decode(row store.Decision) (*Record, error) {
	var said statement
	var more notes
	if err := errors.Join(json.Unmarshal(row.Body, &said), json.Unmarshal(row.Notes, &more)); err != nil {
		return nil, err
	}
	if said.ID != row.Key || said.Owner != row.Owner {
		return nil, errors.New("it was made for another call")
	}
	said.content.Every, said.content.OfPlugin, said.Signatures = said.Every, said.OfPlugin, more.Signatures
	return &Record{ID: row.Key, Owner: row.Owner, Subject: row.About, State: row.State, Expires: row.Expires, content: said.content, client: more.Client, row: row}, nil
}
