package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Store holds the rows of a [Book], as [store.Store] does.
type Store interface {
	// Generation returns a number that differs after each change. It must be fast.
	Generation(ctx context.Context) (int64, error)
	// Rules returns all rows.
	Rules(ctx context.Context) ([]store.Rule, error)
	// ChangeRule replaces the row of a key, in one transaction; nil is no row.
	ChangeRule(ctx context.Context, key string, change func(now *store.Rule) (*store.Rule, error)) error
}

// A Book holds the rules that the person has made by commands, and the origins to which
// the rules of the configuration belong. It may be used concurrently.
type Book struct {
	store  Store
	key    *seal.Key
	logger *slog.Logger

	mu         sync.Mutex // guards the fields below
	generation int64      // of page; -1 before the first
	page       *page
	unsaved    map[string]string // origins that the store could not be given, by key
}

// A page is the content of a book. It is immutable.
type page struct {
	rules   []Rule            // one for each pattern and origin
	origins map[string]string // by key of a row

	assignments map[string]Assignment // by key of a row
}

func (a *Assignment) key() string { return rowKey(assignRow, a.Profile, a.Name, a.Origin) }

// assignment returns the decision about a skill for a profile.
func (p *page) assignment(profile string, skill *skills.Skill) Assignment {
	a := assignmentOf(profile, skill)
	if len(p.assignments) > 0 {
		if made, ok := p.assignments[a.key()]; ok {
			return made
		}
	}
	return a
}

// excludes returns why the person's decisions leave a skill out of a profile, or "". A
// decision about a skill is also one about its tools.
func (p *page) excludes(profile string, skill *skills.Skill) string {
	if profile == "" {
		return ""
	}
	for _, s := range slices.Compact([]*skills.Skill{skill, skill.Owner()}) {
		switch a := p.assignment(profile, s); {
		case a.Unassigned:
			return fmt.Sprintf("the person has taken it out of the profile %s", profile)
		case a.Disabled:
			return fmt.Sprintf("the person has disabled it for the profile %s", profile)
		}
	}
	return ""
}

// NewBook returns the book in a store, whose rows are signed with the key. It reads
// nothing. A nil logger discards.
func NewBook(s Store, key *seal.Key, logger *slog.Logger) *Book {
	return &Book{store: s, key: key, logger: cmp.Or(logger, slog.New(slog.DiscardHandler)), generation: -1, page: &page{origins: map[string]string{}}, unsaved: map[string]string{}}
}

// entry is the content of a row: a rule, or the origin of a rule of the configuration.
type entry struct {
	Pattern string       `json:"pattern"`
	Origin  string       `json:"origin"`
	Digest  string       `json:"digest,omitempty"`
	Class   skills.Class `json:"class,omitempty"`
	Approve Scope        `json:"approve,omitempty"`
	Hosts   []string     `json:"hosts,omitempty"`
	Write   *bool        `json:"write,omitempty"`
	Paths   []string     `json:"unprotected,omitempty"`
	Env     []string     `json:"env,omitempty"`
	Calls   []string     `json:"calls,omitempty"`
}

// The prefixes of the keys of rows.
const (
	ruleRow   = "rule"
	offRow    = "rule-off" // disables a skill, which nobody has to prove; after the rules
	originRow = "origin"
	assignRow = "assignment"
)

// signed reports whether a row gives something, so that the person signs it. The others are
// sealed.
func signed(key string) bool {
	return strings.HasPrefix(key, ruleRow+"\x00") || strings.HasPrefix(key, assignRow+"\x00")
}

// change replaces the row of a key, among those of the person's key: programs with another
// configuration have their own. A row that was signed never counts again.
func (b *Book) change(ctx context.Context, key string, change func(now *store.Rule) (*store.Rule, error)) error {
	return b.store.ChangeRule(ctx, b.key.PersonID()+key, func(now *store.Rule) (*store.Rule, error) {
		next, err := change(now)
		if err == nil && now != nil && signed(key) {
			err = b.key.Withdraw(now.MAC, time.Time{})
		}
		return next, err
	})
}

// rowKey returns the key of a row.
func rowKey(kind string, parts ...string) string {
	return kind + "\x00" + strings.Join(parts, "\x00")
}

// read returns the current page. If the store cannot be read it is the last one.
func (b *Book) read(ctx context.Context) *page {
	if b == nil {
		return &page{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	generation, err := b.store.Generation(ctx)
	if err == nil && generation == b.generation {
		return b.page
	}
	var rows []store.Rule
	if err == nil {
		rows, err = b.store.Rules(ctx)
	}
	if err != nil {
		b.logger.Warn("the person's rules cannot be read; those that were read last count", "error", err)
		return b.page
	}
	b.page, b.generation = b.decode(rows), generation
	maps.Copy(b.page.origins, b.unsaved)
	return b.page
}

// decode returns the page of rows. Those that were not written for this configuration do
// not count.
func (b *Book) decode(rows []store.Rule) *page {
	p := &page{origins: map[string]string{}, assignments: map[string]Assignment{}}
	for _, row := range rows {
		key, own := strings.CutPrefix(row.Key, b.key.PersonID())
		if !own || !b.written(key, &row) {
			b.logger.Warn("a rule in the store does not count: the person of this configuration has not written it, or has withdrawn it", "rule", strings.ReplaceAll(row.Key, "\x00", " "))
			continue
		}
		row.Key = key
		if err := p.add(row); err != nil {
			b.logger.Warn("a rule in the store cannot be read, and does not count", "error", err)
		}
	}
	return p
}

// written reports whether this program has written a row, for the person if it is signed.
func (b *Book) written(key string, row *store.Rule) bool {
	if signed(key) {
		return b.key.Signed(signer, row.MAC, row.Key, string(row.Content))
	}
	return b.key.Valid(row.MAC, row.Key, string(row.Content))
}

// signer names who signs rules: the person of this machine.
var signer = []string{seal.Person}

// add adds the content of a row.
func (p *page) add(row store.Rule) error {
	var e entry
	var a Assignment
	switch kind, _, _ := strings.Cut(row.Key, "\x00"); kind {
	case assignRow:
		if err := json.Unmarshal(row.Content, &a); err != nil {
			return err
		}
		p.assignments[row.Key] = a
		return nil
	case originRow:
		err := json.Unmarshal(row.Content, &e)
		if err == nil {
			p.origins[row.Key] = e.Origin
		}
		return err
	}
	if err := json.Unmarshal(row.Content, &e); err != nil {
		return err
	}
	off := strings.HasPrefix(row.Key, offRow)
	i := slices.IndexFunc(p.rules, func(r Rule) bool { return r.Pattern == e.Pattern && r.Origin == e.Origin })
	if off && i >= 0 {
		p.rules[i].Enabled = new(bool)
		return nil
	}
	r := e.rule()
	if off {
		r.Enabled = new(bool)
	}
	p.rules = append(p.rules, r)
	return nil
}

func (e *entry) rule() Rule {
	r := Rule{
		Pattern: e.Pattern, Origin: e.Origin, Digest: e.Digest, Stored: true,
		Class: e.Class, Approve: e.Approve, Write: e.Write, Unprotected: e.Paths, Env: e.Env, Calls: e.Calls,
	}
	r.Name = fmt.Sprintf("your rule for %s", e.Pattern)
	for _, text := range e.Hosts {
		if host, err := egress.ParseRule(text); err == nil && host.Public() { // others are for the configuration
			r.Hosts = append(r.Hosts, host)
		}
	}
	return r
}

func entryOf(r *Rule) *entry {
	e := &entry{Pattern: r.Pattern, Origin: r.Origin, Digest: r.Digest, Class: r.Class, Approve: r.Approve, Write: r.Write, Paths: r.Unprotected, Env: r.Env, Calls: r.Calls}
	for _, host := range r.Hosts {
		e.Hosts = append(e.Hosts, host.String())
	}
	return e
}

// row returns the signed row of an entry, or of an assignment.
func (b *Book) row(ctx context.Context, key string, e any) (*store.Rule, error) {
	content, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	row := &store.Rule{Key: b.key.PersonID() + key, Content: content}
	if signed(key) {
		row.MAC, err = b.key.Sign(ctx, signer, row.Key, string(content))
	} else {
		row.MAC, err = b.key.Sum(row.Key, string(content))
	}
	return row, err
}

// Rules returns the rules of the book.
func (b *Book) Rules(ctx context.Context) []Rule { return slices.Clone(b.read(ctx).rules) }

// Of returns the rule of the book about a skill, nil without one.
func (b *Book) Of(ctx context.Context, skill *skills.Skill) *Rule {
	name, origin := skill.QualifiedName(), skill.Origin().String()
	for _, r := range b.read(ctx).rules {
		if r.Pattern == name && r.Origin == origin {
			return &r
		}
	}
	return nil
}

// Put writes a rule in place of the one with its pattern and origin. A rule that says
// nothing is removed.
func (b *Book) Put(ctx context.Context, r Rule) error {
	key := rowKey(ruleRow, r.Pattern, r.Origin)
	return b.change(ctx, key, func(*store.Rule) (*store.Rule, error) {
		if r.Enabled = nil; r.empty() { // which a row of its own says
			return nil, nil
		}
		return b.row(ctx, key, entryOf(&r))
	})
}

// origin returns the origin to which a rule of the configuration belongs for a name; ""
// if none has used it yet.
func (p *page) origin(rule, name string) string { return p.origins[rowKey(originRow, rule, name)] }

// bind makes the origin of a skill the one to which a rule of the configuration belongs,
// if it has none for the skill's name yet. It returns the one that it has then. An
// origin that cannot be written holds until the program ends.
func (b *Book) bind(ctx context.Context, rule, name, origin string) string {
	key := rowKey(originRow, rule, name)
	b.mu.Lock()
	defer b.mu.Unlock()
	if bound, held := b.unsaved[key]; held {
		return bound
	}
	bound := origin
	err := b.change(ctx, key, func(now *store.Rule) (*store.Rule, error) {
		if now != nil {
			if p := b.decode([]store.Rule{*now}); p.origins[key] != "" {
				bound = p.origins[key]
				return now, nil
			}
		}
		return b.row(ctx, key, &entry{Pattern: rule, Origin: origin})
	})
	if err != nil {
		b.logger.Warn("the origin of the skill of a rule cannot be written; it holds until the server ends", "rule", rule, "error", err)
		b.unsaved[key] = bound
		b.page = &page{b.page.rules, maps.Clone(b.page.origins), b.page.assignments}
		maps.Copy(b.page.origins, b.unsaved)
	}
	return bound
}

// assign makes a rule of the configuration belong to an origin for a name.
func (b *Book) assign(ctx context.Context, rule, name, origin string) error {
	key := rowKey(originRow, rule, name)
	return b.change(ctx, key, func(*store.Rule) (*store.Rule, error) {
		return b.row(ctx, key, &entry{Pattern: rule, Origin: origin})
	})
}
