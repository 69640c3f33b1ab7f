// Package tokens has the bearer tokens that the person makes for people and programs, and
// links by which their holders sign in on the page. The store has only hashes of both.
//
// Start with [New].
package tokens

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// The kinds of rows.
const (
	TokenRow = "token"
	LinkRow  = "sign-in link"
)

// Prefix begins the text of each token, for the tools that find leaked ones.
const Prefix = "smcp_"

// LinkLife is the time in which a link can be used.
const LinkLife = 24 * time.Hour

// Rows are the rows of one kind that count, such as those of a [seal.Table].
type Rows interface {
	List(ctx context.Context, f store.DecisionFilter) ([]store.Decision, error)
	// New returns a row with the JSON of body, signed by the person of ctx where they have
	// a passphrase.
	New(ctx context.Context, body any) (*store.Decision, error)
	// Change replaces the row of a key by the result of change, in one transaction; nil
	// is none.
	Change(ctx context.Context, care store.Care, key string, change func(now *store.Decision) (*store.Decision, error)) error
	// Remove removes the row of a key, and reports whether there was one.
	Remove(ctx context.Context, key string) (found bool, err error)
}

// A Token is the row of a token.
type Token struct {
	Name     string           `json:"name"`
	Profiles []string         `json:"profiles,omitempty"` // the first is the default; none: all
	Scopes   []identity.Scope `json:"scopes"`
	Created  time.Time        `json:"created"`
	Expires  time.Time        `json:"expires,omitzero"` // zero is never
	Sum      []byte           `json:"sum"`              // SHA-256 of its text
}

// Expired reports whether the token has ended.
func (t *Token) Expired() bool { return !t.Expires.IsZero() && !time.Now().Before(t.Expires) }

// Principal returns the holder of the token.
func (t *Token) Principal() identity.Principal {
	p := identity.Principal{Kind: identity.Token, ID: t.Name, Profiles: t.Profiles, Scopes: append([]identity.Scope{}, t.Scopes...), Expires: t.Expires}
	if len(t.Profiles) > 0 {
		p.Profile = t.Profiles[0]
	}
	return p
}

// link is the row of a link. Its key is the token's name: a new link replaces the last.
type link struct {
	Name    string    `json:"name"` // of the token
	Expires time.Time `json:"expires"`
	Sum     []byte    `json:"sum"`
}

// Tokens are the tokens in a store. They may be used concurrently.
type Tokens struct {
	tokens, links Rows
	generation    func(context.Context) (int64, error)

	mu   sync.Mutex // guards the fields below
	read int64      // the generation of all; -1 before the first
	all  []Token
}

// New returns the tokens of some rows. Generation returns a number that is another one after
// each change, of other processes too. It reads nothing.
func New(tokens, links Rows, generation func(context.Context) (int64, error)) *Tokens {
	return &Tokens{tokens: tokens, links: links, generation: generation, read: -1}
}

// List returns the tokens by name, with an error those of before. The caller must not change
// them.
func (t *Tokens) List(ctx context.Context) ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	generation, err := t.generation(ctx)
	if err != nil || generation == t.read {
		return t.all, err
	}
	rows, err := t.tokens.List(ctx, store.DecisionFilter{})
	if err != nil {
		return t.all, fmt.Errorf("read the tokens: %w", err)
	}
	all := make([]Token, 0, len(rows))
	for _, row := range rows {
		var token Token
		if json.Unmarshal(row.Body, &token) == nil && token.Name == row.Key { // a copy under another key does not count
			all = append(all, token)
		}
	}
	slices.SortFunc(all, func(a, b Token) int { return cmp.Compare(a.Name, b.Name) })
	t.all, t.read = all, generation
	return all, nil
}

// Principal returns the holder of a token by its text; ok is false if there is none. The
// error says that the tokens cannot be read.
func (t *Tokens) Principal(ctx context.Context, text string) (p identity.Principal, ok bool, err error) {
	all, err := t.List(ctx)
	if err != nil {
		return p, false, err
	}
	sum := sha256.Sum256([]byte(text))
	for i := range all { // to the end, so that the time tells nothing
		if subtle.ConstantTimeCompare(all[i].Sum, sum[:]) == 1 && !all[i].Expired() {
			p, ok = all[i].Principal(), true
		}
	}
	return p, ok, nil
}

// Named returns the holder of the token of a name, while it counts.
func (t *Tokens) Named(ctx context.Context, name string) (p identity.Principal, ok bool) {
	one, err := t.named(ctx, name)
	if err != nil || one == nil {
		return p, false
	}
	return one.Principal(), true
}

// Watch returns a function that reports whether the token of a name, as it is now, still
// counts: a later one of the same name is another one. An error says that nobody knows.
func (t *Tokens) Watch(ctx context.Context, name string) (counts func(context.Context) (bool, error)) {
	first, _ := t.named(ctx, name) // at worst as it was when it was proved
	return func(ctx context.Context) (bool, error) {
		now, err := t.named(ctx, name)
		return first != nil && now != nil && bytes.Equal(first.Sum, now.Sum), err
	}
}

// named returns the token of a name; nil if it does not count. With an error, it is one of
// the last that could be read.
func (t *Tokens) named(ctx context.Context, name string) (*Token, error) {
	all, err := t.List(ctx)
	i := slices.IndexFunc(all, func(one Token) bool { return one.Name == name })
	if i < 0 || all[i].Expired() {
		return nil, err
	}
	return &all[i], err
}

// ErrTaken is returned for a second token of a name.
var ErrTaken = errors.New("there is a token of this name")

// Add adds a token, and returns its text, which is nowhere else.
func (t *Tokens) Add(ctx context.Context, token Token) (text string, err error) {
	if strings.Trim(token.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@") != "" || token.Name == "" || len(token.Name) > 64 {
		return "", fmt.Errorf("the name of a token is %q; write at most 64 letters, digits and . _ - @", token.Name)
	}
	text, token.Created = Prefix+rand.Text(), time.Now().UTC().Truncate(time.Second)
	sum := sha256.Sum256([]byte(text))
	token.Sum = sum[:]
	next, err := t.tokens.New(ctx, &token)
	if err != nil {
		return "", err
	}
	err = t.tokens.Change(ctx, store.Announced, token.Name, func(now *store.Decision) (*store.Decision, error) {
		if now != nil {
			return nil, ErrTaken
		}
		return next, nil
	})
	if errors.Is(err, ErrTaken) {
		err = ErrTaken
	}
	return text, err
}

// Revoke removes a token and its link, also in servers that run.
func (t *Tokens) Revoke(ctx context.Context, name string) (found bool, err error) {
	if _, err := t.links.Remove(ctx, name); err != nil {
		return false, err
	}
	return t.tokens.Remove(ctx, name)
}

// NewLink returns a text that signs the holder of a token in once, within [LinkLife]. An
// older one counts no more.
func (t *Tokens) NewLink(ctx context.Context, name string) (text string, err error) {
	text = rand.Text()
	sum := sha256.Sum256([]byte(text))
	next, err := t.links.New(ctx, &link{name, time.Now().Add(LinkLife).UTC().Truncate(time.Second), sum[:]})
	if err != nil {
		return "", err
	}
	return text, t.links.Change(ctx, store.Announced, name, func(*store.Decision) (*store.Decision, error) { return next, nil })
}

// errUsed ends the use of a link that another request has used.
var errUsed = errors.New("the link was used")

// UseLink uses up a link, and returns the holder of its token, who may answer the questions
// about their own calls; ok is false if the link does not count.
func (t *Tokens) UseLink(ctx context.Context, text string) (p identity.Principal, ok bool) {
	rows, err := t.links.List(ctx, store.DecisionFilter{})
	if err != nil {
		return p, false
	}
	sum := sha256.Sum256([]byte(text))
	for _, row := range rows {
		var one link
		if json.Unmarshal(row.Body, &one) != nil || one.Name != row.Key || subtle.ConstantTimeCompare(one.Sum, sum[:]) != 1 || !time.Now().Before(one.Expires) {
			continue
		}
		err := t.links.Change(ctx, store.Announced, row.Key, func(now *store.Decision) (*store.Decision, error) {
			if now == nil || string(now.Body) != string(row.Body) {
				return now, errUsed
			}
			return nil, nil
		})
		if err != nil {
			return p, false
		}
		if p, ok = t.Named(ctx, one.Name); ok {
			p.Scopes = append(p.Scopes, identity.ScopeApprove)
		}
		return p, ok
	}
	return p, false
}
