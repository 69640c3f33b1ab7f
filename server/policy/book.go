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

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Book holds the rules that the person has made by commands, and the origins to which
// the rules of the configuration belong. It may be used concurrently.
type Book struct {
	store  *store.Store
	person string // the ID of their key, which begins the keys of rows
	tables map[string]*seal.Table
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
	pinned  []pin

	profiles map[string]Profile // by name
}

// pin is the body of a row: the tool of a skill stays, however many skills there are. It
// grants nothing.
type pin struct {
	Name   string `json:"name"` // qualified, of the skill
	Origin string `json:"origin"`
}

// NewBook returns the book in a store, whose rows are signed with the key. It reads
// nothing. A nil logger discards.
func NewBook(s *store.Store, key *seal.Key, logger *slog.Logger) *Book {
	b := &Book{store: s, person: key.PersonID(), logger: cmp.Or(logger, slog.New(slog.DiscardHandler)), generation: -1, page: &page{origins: map[string]string{}}, unsaved: map[string]string{}}
	o := &seal.Options{Logger: b.logger}
	b.tables = map[string]*seal.Table{offRow: seal.NewTable(offRow, s, key, o), originRow: seal.NewTable(originRow, s, key, o)}
	signed := &seal.Options{Signers: []string{seal.Person}, Logger: b.logger}
	for _, kind := range []string{ruleRow, pinRow, profileRow} {
		b.tables[kind] = seal.NewTable(kind, s, key, signed)
	}
	return b
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

	Secrets []run.SecretGrant `json:"secrets,omitempty"`
}

// The kinds of rows. The person signs those that give something.
const (
	ruleRow   = "rule"
	offRow    = "rule off" // disables a skill, which nobody has to prove
	originRow = "rule origin"
	pinRow    = "tool pin"

	profileRow = "profile"
)

// write replaces the row of a kind and key by one with a body; nil is none. Programs with
// another configuration have rows of their own.
func (b *Book) write(ctx context.Context, kind, key string, body any) error {
	var next *store.Decision
	if body != nil {
		var err error
		if next, err = b.tables[kind].New(ctx, body); err != nil {
			return err
		}
	}
	return b.tables[kind].Change(ctx, store.Announced, b.person+key, func(*store.Decision) (*store.Decision, error) { return next, nil })
}

// rowKey returns the key of a row.
func rowKey(parts ...string) string { return "\x00" + strings.Join(parts, "\x00") }

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
	var next *page
	if err == nil {
		next, err = b.load(ctx)
	}
	if err != nil {
		b.logger.Warn("the person's rules cannot be read; those that were read last count", "error", err)
		return b.page
	}
	b.page, b.generation = next, generation
	maps.Copy(b.page.origins, b.unsaved)
	return b.page
}

// load reads the rows. Those that were not written for this configuration do not count.
func (b *Book) load(ctx context.Context) (*page, error) {
	p := &page{origins: map[string]string{}, profiles: map[string]Profile{}}
	for _, kind := range []string{ruleRow, offRow, originRow, pinRow, profileRow} { // what is off after the rules
		rows, err := b.tables[kind].List(ctx, store.DecisionFilter{})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(rows, func(a, b store.Decision) int { return strings.Compare(a.Key, b.Key) })
		for _, row := range rows {
			if key, own := strings.CutPrefix(row.Key, b.person); own {
				p.add(kind, key, row.Body)
			}
		}
	}
	return p, nil
}

// add adds the body of a row. One that is copied to another key does not count.
func (p *page) add(kind, key string, body []byte) {
	if kind == profileRow {
		var named NamedProfile
		if json.Unmarshal(body, &named) == nil && key == rowKey(named.Name) && named.Check("") == nil {
			p.profiles[named.Name] = named.Profile
		}
		return
	}
	var e entry
	var tool pin
	if json.Unmarshal(body, &e) != nil || json.Unmarshal(body, &tool) != nil {
		return // nobody has signed such a one
	}
	switch kind {
	case pinRow:
		if key == rowKey(tool.Name, tool.Origin) {
			p.pinned = append(p.pinned, tool)
		}
	case originRow:
		p.origins[key] = e.Origin
	case ruleRow:
		if key == rowKey(e.Pattern, e.Origin) {
			p.rules = append(p.rules, e.rule())
		}
	case offRow:
		i := slices.IndexFunc(p.rules, func(r Rule) bool { return r.Pattern == e.Pattern && r.Origin == e.Origin })
		if i < 0 {
			i, p.rules = len(p.rules), append(p.rules, e.rule())
		}
		p.rules[i].Enabled = new(bool)
	}
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
	for _, g := range e.Secrets {
		if PublicSecret(g) {
			r.Secrets = append(r.Secrets, g)
		}
	}
	return r
}

func entryOf(r *Rule) *entry {
	e := &entry{Pattern: r.Pattern, Origin: r.Origin, Digest: r.Digest, Class: r.Class, Approve: r.Approve, Write: r.Write, Paths: r.Unprotected, Env: r.Env, Calls: r.Calls, Secrets: r.Secrets}
	for _, host := range r.Hosts {
		e.Hosts = append(e.Hosts, host.String())
	}
	return e
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

// RuleOf returns the rule of the book about a skill, or one that says nothing yet.
func (b *Book) RuleOf(ctx context.Context, skill *skills.Skill) Rule {
	if now := b.Of(ctx, skill); now != nil {
		return *now
	}
	return Rule{Pattern: skill.QualifiedName(), Origin: skill.Origin().String()}
}

// Put writes a rule in place of the one with its pattern and origin. A rule that says
// nothing is removed.
func (b *Book) Put(ctx context.Context, r Rule) error {
	var body any
	if r.Enabled = nil; !r.empty() { // which a row of its own says
		body = entryOf(&r)
	}
	return b.write(ctx, ruleRow, rowKey(r.Pattern, r.Origin), body)
}

// PutProfile writes a profile in place of the one of its name.
func (b *Book) PutProfile(ctx context.Context, p NamedProfile) error {
	p.Configured = false
	return b.write(ctx, profileRow, rowKey(p.Name), p)
}

// RemoveProfile removes the profile of a name, which then exists for nobody.
func (b *Book) RemoveProfile(ctx context.Context, name string) error {
	return b.write(ctx, profileRow, rowKey(name), nil)
}

// origin returns the origin to which a rule of the configuration belongs for a name; ""
// if none has used it yet.
func (p *page) origin(rule, name string) string { return p.origins[rowKey(rule, name)] }

// bind makes the origin of a skill the one to which a rule of the configuration belongs,
// if it has none for the skill's name yet. It returns the one that it has then. An
// origin that cannot be written holds until the program ends.
func (b *Book) bind(ctx context.Context, rule, name, origin string) string {
	key := rowKey(rule, name)
	b.mu.Lock()
	defer b.mu.Unlock()
	if bound, held := b.unsaved[key]; held {
		return bound
	}
	next, err := b.tables[originRow].New(ctx, &entry{Pattern: rule, Origin: origin})
	bound := origin
	if err == nil {
		err = b.tables[originRow].Change(ctx, store.Announced, b.person+key, func(now *store.Decision) (*store.Decision, error) {
			var e entry
			if now != nil && b.tables[originRow].Valid(now) && json.Unmarshal(now.Body, &e) == nil {
				bound = e.Origin
				return now, nil
			}
			return next, nil
		})
	}
	if err != nil {
		b.logger.Warn("the origin of the skill of a rule cannot be written; it holds until the server ends", "rule", rule, "error", err)
		b.unsaved[key] = bound
		next := *b.page
		next.origins = maps.Clone(b.page.origins)
		b.page = &next
		maps.Copy(b.page.origins, b.unsaved)
	}
	return bound
}

// assign makes a rule of the configuration belong to an origin for a name.
func (b *Book) assign(ctx context.Context, rule, name, origin string) error {
	return b.write(ctx, originRow, rowKey(rule, name), &entry{Pattern: rule, Origin: origin})
}
