package api

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// Skills returns a page of the skills that a query selects: those that need the person
// first, by qualified name, or, for a text, best first and then those that are off.
func (s *Service) Skills(ctx context.Context, q SkillQuery) (*SkillPage, error) {
	view, err := s.options.Directory.View(ctx)
	if err != nil {
		return nil, err
	}
	all, total, err := s.find(ctx, view, &q)
	if err != nil {
		return nil, err
	}
	found, next, err := pageOf(all, q.Cursor, limit(q.Limit, 50, 200))
	page := &SkillPage{Items: []SkillItem{}, Total: total, Next: next}
	for _, f := range found {
		page.Items = append(page.Items, f.item(view))
	}
	return page, err
}

// Item returns one skill as a list has it.
func (s *Service) Item(ctx context.Context, name string) (*SkillItem, error) {
	f, view, err := s.one(ctx, name)
	if err != nil {
		return nil, err
	}
	item := f.item(view)
	return &item, nil
}

// Skill describes a skill in full.
func (s *Service) Skill(ctx context.Context, name string) (*describe.Skill, error) {
	f, view, err := s.one(ctx, name)
	if err != nil {
		return nil, err
	}
	d, err := view.Skill(ctx, f.skill)
	if err == nil && f.off != "" {
		d.TurnOff(f.off)
	}
	return d, err
}

// Plugins describes the plugins.
func (s *Service) Plugins(ctx context.Context) ([]describe.Plugin, error) {
	view, err := s.options.Directory.View(ctx)
	if err != nil {
		return nil, err
	}
	return describe.Plugins(view.Catalog), nil
}

// Find returns a skill itself, for its files. The error is a [*run.Error].
func (s *Service) Find(ctx context.Context, name string) (*skills.Skill, error) {
	f, _, err := s.one(ctx, name)
	return f.skill, err
}

// SetEnabled enables or disables a skill, which only a person may. It returns when the
// published skills follow.
func (s *Service) SetEnabled(ctx context.Context, name string, enabled bool) error {
	return s.decide(ctx, name, func(skill *skills.Skill) error { return s.options.Rules.Enable(ctx, skill, enabled) })
}

// SetPinned keeps the tool of a skill, or no longer, which only a person may. It returns
// when the published skills follow.
func (s *Service) SetPinned(ctx context.Context, name string, pinned bool) error {
	return s.decide(ctx, name, func(skill *skills.Skill) error { return s.options.Rules.Pin(ctx, skill, pinned) })
}

// An Overview has the results of the scan other than skills.
type Overview struct {
	Skills   int              // that are published
	Problems []skills.Problem // errors first
	Shadowed []skills.Shadow  // skills whose name another one has
}

// Overview returns the results of the scan, for a person.
func (s *Service) Overview(ctx context.Context) (*Overview, error) {
	if err := onlyPersons(ctx); err != nil {
		return nil, err
	}
	view, err := s.options.Directory.View(ctx)
	if err != nil {
		return nil, err
	}
	o := &Overview{Skills: len(view.Catalog.Skills), Problems: slices.Clone(view.Catalog.Problems), Shadowed: view.Shadowed}
	weight := map[skills.Severity]int{skills.Error: 0, skills.Warning: 1, skills.Note: 2}
	slices.SortStableFunc(o.Problems, func(a, b skills.Problem) int { return cmp.Compare(weight[a.Severity], weight[b.Severity]) })
	return o, nil
}

// Doctor diagnoses the machine, for a person.
func (s *Service) Doctor(ctx context.Context) (*Diagnosis, error) {
	if err := onlyPersons(ctx); err != nil {
		return nil, err
	}
	return s.options.Doctor(ctx)
}

// decide has a person decide about a skill, and the published skills follow.
func (s *Service) decide(ctx context.Context, name string, decide func(*skills.Skill) error) error {
	if err := onlyPersons(ctx); err != nil {
		return err
	}
	f, _, err := s.one(ctx, name)
	if err != nil {
		return err
	}
	if err := decide(f.skill); err != nil {
		return err
	}
	_, _ = s.options.Directory.Find(ctx, f.name()) // it publishes; the skill may be off now
	return ctx.Err()
}

// A found skill is one of a list.
type found struct {
	skill *skills.Skill
	off   string // why it does not exist; "" is that it does
	match string
}

func (f found) name() string { return f.skill.QualifiedName() }

// rank returns 0 for a skill that needs the person, and 1 for others.
func (f found) rank() int {
	if f.off == "" && describe.NeedsPerson(describe.State(f.skill)) {
		return 0
	}
	return 1
}

// listed describes the skill.
func (f found) listed(view *describe.View) describe.Listed {
	l := view.Listed(f.skill)
	if f.off != "" {
		l.TurnOff(f.off)
	}
	return l
}

func (f found) item(view *describe.View) SkillItem {
	return SkillItem{
		Listed: f.listed(view), Title: view.Title(f.skill), Plugin: f.skill.Plugin,
		Enabled: f.off == "", Pinned: f.skill.PinnedByPerson, Match: f.match,
	}
}

// keeps reports whether the fields of a query select a skill. The state, of which state
// returns the first word, is looked at last, as it needs a decision.
func (q *SkillQuery) keeps(state func(*skills.Skill) string, f found) bool {
	if q.Category != "" && f.skill.Category != q.Category || q.Source != "" && f.skill.Source != q.Source || q.Class != "" && f.skill.Class != q.Class {
		return false
	}
	if q.State == "" {
		return true
	}
	return f.off != "" && q.State == "off" || f.off == "" && state(f.skill) == q.State
}

// matches reports whether a skill that is off has all words of a query.
func (q *SkillQuery) matches(skill *skills.Skill) bool {
	text := strings.ToLower(skill.QualifiedName() + " " + skill.Description)
	for _, word := range strings.Fields(strings.ToLower(q.Text)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// find returns the skills that a query selects, as many as there can be on all pages, and
// the number of all.
func (s *Service) find(ctx context.Context, view *describe.View, q *SkillQuery) (all []found, total int, err error) {
	state := func(skill *skills.Skill) string {
		word, _, _ := strings.Cut(view.StateOf(skill), " ")
		return strings.TrimRight(word, ":,")
	}
	off := s.off(ctx, func(f found) bool { return q.matches(f.skill) && q.keeps(state, f) })
	if strings.TrimSpace(q.Text) == "" {
		for _, skill := range view.Catalog.Skills {
			if f := (found{skill: skill}); q.keeps(state, f) {
				all = append(all, f)
			}
		}
		all = append(all, off...)
		slices.SortFunc(all, func(a, b found) int {
			return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.name(), b.name()))
		})
		return all, len(all), nil
	}
	result, err := s.options.Directory.Search(ctx, search.Query{Text: q.Text, Keep: func(skill *skills.Skill) bool { return q.keeps(state, found{skill: skill}) }})
	for _, h := range result.Hits {
		all = append(all, found{skill: h.Skill, match: h.Why()})
	}
	return append(all, off...), result.Total + len(off), err
}

// off returns the skills that do not exist for the server's clients, of those that keep
// wants, to a person: nobody else learns of them.
func (s *Service) off(ctx context.Context, keep func(found) bool) (all []found) {
	if !isPerson(ctx) || s.options.Rules == nil {
		return nil
	}
	for _, o := range s.options.Rules.Off(ctx) {
		if f := (found{skill: o.Skill, off: o.Why}); keep(f) {
			all = append(all, f)
		}
	}
	return all
}

// one returns the skill of a name, and a view that has it unless it is off. A skill that is
// off is found by its qualified name.
func (s *Service) one(ctx context.Context, name string) (found, *describe.View, error) {
	skill, missing := s.options.Directory.Find(ctx, name)
	view, err := s.options.Directory.View(ctx)
	switch {
	case err != nil:
		return found{}, nil, err
	case missing == nil:
		return found{skill: skill}, view, nil
	}
	if _, none := errors.AsType[*skills.NotFoundError](missing); none {
		for _, f := range s.off(ctx, func(f found) bool { return f.name() == name }) {
			return f, view, nil
		}
	}
	return found{}, nil, missing
}

var _ Rules = (*policy.Filter)(nil)
