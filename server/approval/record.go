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

	row    store.Approval  // as it was read
	client string          // of a new one
	proofs [][]byte        // of the signatures; nil is none
	stated json.RawMessage // the part of the row that people sign
}

// Void is the state of a given approval that does not count: the people of this
// configuration have not signed it, or it was used or revoked before.
const Void = "void"

// content are the fields that the store does not read.
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

// OwnedBy reports whether a record is about a call of a principal, in whatever session.
func (r *Record) OwnedBy(p identity.Principal) bool { return r.Owner == ownerOf(p) }

// concerns reports whether a record may let a call of a principal run: it is of the same one,
// or of several people who confirm the same call.
func (r *Record) concerns(owner string) bool { return r.Owner == owner || r.Needed > 1 }

// key names the calls that are one question.
func (r *Record) key() string {
	owner := r.Owner
	if r.Needed > 1 { // who make the same call
		owner = ""
	}
	binding, _ := json.Marshal(r.Binding) // of texts
	return digest(owner, string(binding), r.Proofs)
}

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

// keys returns the names of the keys that may make a signature.
func (s *Signature) keys() []string {
	switch {
	case s.Way == ByScript:
		return []string{seal.Script}
	case strings.HasPrefix(s.Signer.ID, issued):
		return []string{seal.Program}
	}
	return []string{s.Signer.ID}
}

// lives reports whether a record waits for an answer, or lets calls run, or seems to.
func (r *Record) lives() bool {
	return r.current() && (r.State == store.ApprovalPending || r.State == store.ApprovalGiven || r.State == Void)
}

// Shown returns the question of a record with the people who have confirmed it so far.
func (r *Record) Shown() *Question {
	q := r.Question
	q.ID, q.Signed = r.ID, r.signers()
	return &q
}

// A book holds the records in a store, signed.
type book struct {
	store   *store.Store
	key     *seal.Key
	pending store.ApprovalLimits
	logger  *slog.Logger

	mu    sync.Mutex
	known map[string]*Record // by ID, as they were read last; guarded by mu
}

// maxKnown bounds the records that are known.
const maxKnown = 256

// stored is the content of a row.
type stored struct {
	Statement  json.RawMessage `json:"statement"` // the part that is signed
	Signatures []Signature     `json:"signatures,omitempty"`
	Proofs     [][]byte        `json:"proofs,omitempty"`
}

// A statement is the part of a record that people sign.
type statement struct {
	content
	Every    Binding `json:"every"`
	OfPlugin Binding `json:"of_plugin"`
}

// encode returns the row of a record, sealed, with the proofs of its new signatures.
func (b *book) encode(ctx context.Context, r *Record) (store.Approval, error) {
	said := statement{r.content, r.Every, r.OfPlugin}
	said.Signatures = nil
	text, err := json.Marshal(said)
	if err != nil {
		return store.Approval{}, err
	}
	for i := len(r.proofs); i < len(r.Signatures); i++ {
		var proof []byte
		if r.State != store.ApprovalUsed { // of which nothing has to be proved
			proof, err = b.key.Sign(ctx, r.Signatures[i].keys(), r.signed(text, i)...)
		}
		if err != nil && (!errors.Is(err, seal.ErrLocked) || r.Scope != Session) { // which counts in this process only
			return store.Approval{}, err
		}
		r.proofs = append(r.proofs, proof)
	}
	data, err := json.Marshal(stored{text, r.Signatures, r.proofs})
	if err != nil {
		return store.Approval{}, err
	}
	r.stated = text
	row := store.Approval{ID: r.ID, Owner: r.Owner, Subject: r.Subject, State: r.State, Expires: r.Expires, Content: data}
	row.MAC, err = b.key.Sum(sealed(&row)...)
	return row, err
}

// signed returns the texts of which a signature is the proof. The last one is of the expiry,
// too.
func (r *Record) signed(statement json.RawMessage, i int) []string {
	s, ends := &r.Signatures[i], ""
	if i+1 == r.Needed {
		ends = strconv.FormatInt(r.Expires.Unix(), 10)
	}
	return []string{"approval", r.ID, r.Owner, r.Subject, string(statement), ends, s.Signer.ID, string(s.Way), strconv.FormatInt(s.At.UnixNano(), 10)}
}

// proved reports whether as many people as a record needs have signed it, each with their
// key. An approval of a session counts by the memory of its process.
func (b *book) proved(r *Record) bool {
	if r.Scope == Session {
		return true
	}
	if len(r.proofs) != len(r.Signatures) || len(r.Signatures) < r.Needed {
		return false
	}
	signers := map[string]bool{}
	for i := range r.Signatures {
		one := &r.Signatures[i]
		if one.Way == ByScript && r.Scope != Once || !b.key.Signed(one.keys(), r.proofs[i], r.signed(r.stated, i)...) {
			return false
		}
		signers[one.Signer.ID] = true
	}
	return len(signers) >= r.Needed
}

// sealed returns the fields of a row that its MAC is of.
func sealed(row *store.Approval) []string {
	return []string{"approval", row.ID, row.Owner, row.Subject, row.State, strconv.FormatInt(row.Expires.Unix(), 10), string(row.Content)}
}

// add stores a new record.
func (b *book) add(ctx context.Context, r *Record) error {
	row, err := b.encode(ctx, r)
	if err != nil {
		return err
	}
	r.row, row.Client, row.Key = row, r.client, r.key()
	return b.store.AddApproval(ctx, row, b.pending)
}

// replace changes a record, in the store too. It reports false if another process has
// changed it since.
func (b *book) replace(ctx context.Context, r *Record, change func(*Record)) (bool, error) {
	before := r.row
	changed := *r
	changed.Signatures, changed.proofs = slices.Clone(r.Signatures), slices.Clone(r.proofs)
	change(&changed)
	row, err := b.encode(ctx, &changed)
	if err != nil {
		return false, err
	}
	replaced, err := b.store.ReplaceApproval(ctx, before, row)
	if replaced {
		changed.row = row
		*r = changed
	}
	if replaced && !slices.Contains([]string{store.ApprovalPending, store.ApprovalGiven}, r.State) {
		for _, proof := range r.proofs {
			err = errors.Join(err, b.key.Withdraw(proof, r.Expires))
		}
	}
	return replaced, err
}

// use marks an approval of one call as used. Only one call succeeds.
func (b *book) use(ctx context.Context, r *Record) (bool, error) {
	if !b.proved(r) { // it was used since it was read
		return false, nil
	}
	return b.replace(ctx, r, func(r *Record) { r.State = store.ApprovalUsed })
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

// about returns the records about a skill, or all for "", the newest first. Rows that were
// not written by this package are left out.
func (b *book) about(ctx context.Context, subject string) ([]*Record, error) {
	rows, err := b.store.Approvals(ctx, subject)
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, row := range rows {
		if r := b.open(row); r != nil {
			all = append(all, r)
		}
	}
	return all, nil
}

// open returns the record of a row, or nil if the program has not written it.
func (b *book) open(row store.Approval) *Record {
	r := b.read(row)
	if r != nil && r.State == store.ApprovalGiven && !b.proved(r) {
		b.logger.Warn("an approval does not count: the people of this configuration have not signed it, or it was used or revoked before", "approval", row.ID)
		r.State = Void
	}
	return r
}

// read returns a copy of the record of a row. One that is as it was read last is not
// decoded again: that took a fifth of the share of an approved call.
func (b *book) read(row store.Approval) *Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.known[row.ID]
	if r == nil || !slices.Equal(sealed(&r.row), sealed(&row)) || !bytes.Equal(r.row.MAC, row.MAC) {
		if r = b.decode(row); r == nil {
			return nil
		}
		if b.known == nil || len(b.known) >= maxKnown {
			b.known = map[string]*Record{}
		}
		b.known[row.ID] = r
	}
	c := *r
	return &c
}

// decode returns the record of a row, or nil.
func (b *book) decode(row store.Approval) *Record {
	var s stored
	var said statement
	if !b.key.Valid(row.MAC, sealed(&row)...) || json.Unmarshal(row.Content, &s) != nil || json.Unmarshal(s.Statement, &said) != nil {
		b.logger.Warn("an approval does not count: it was not written by skills-mcp", "approval", row.ID)
		return nil
	}
	said.content.Every, said.content.OfPlugin, said.Signatures = said.Every, said.OfPlugin, s.Signatures
	return &Record{ID: row.ID, Owner: row.Owner, Subject: row.Subject, State: row.State, Expires: row.Expires, content: said.content, row: row, proofs: s.Proofs, stated: s.Statement}
}

// change replaces a record, which must be as it was read.
func (b *book) change(ctx context.Context, r *Record, change func(*Record)) error {
	replaced, err := b.replace(ctx, r, change)
	if err == nil && !replaced {
		err = errors.New("the approval was changed meanwhile; look at it again")
	}
	return err
}
