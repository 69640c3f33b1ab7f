package policy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A settler applies the rules of its options.
type settler struct {
	options Options
	merged  atomic.Pointer[merged]
}

// merged are options with those of a [Live].
type merged struct {
	from    *Options
	options Options
}

// current returns the options. Nothing else reads them, so that a new configuration can
// replace them.
func (p *settler) current() *Options {
	if p.options.Live == nil {
		return &p.options
	}
	from, last := p.options.Live.now.Load(), p.merged.Load()
	if from == nil {
		return &p.options
	}
	if last == nil || last.from != from {
		last = &merged{from, p.options}
		o := &last.options
		o.Mode, o.Rules, o.Profiles, o.Hosts = cmp.Or(from.Mode, Confirm), from.Rules, from.Profiles, from.Hosts
		p.merged.Store(last)
	}
	return &last.options
}

// A subject is a skill whose call is decided about.
type subject struct {
	skill    *skills.Skill
	who      identity.Principal
	digest   string // "" is not known
	accepted bool   // the pins say that nothing was gained since the person accepted it
	install  bool   // it is no skill, but an installation
	tool     bool   // it is no skill, but a tool whose calls have the grant of a safe one
}

// terms are the terms on which a skill may run for a profile, by all rules.
type terms struct {
	mode    Mode
	class   skills.Class // of the grant
	write   bool
	paths   []string // protected ones that are writable, too
	hosts   []string
	env     []string // that rules give
	secrets []run.SecretGrant
	calls   []string // patterns of the skills that it may call
	approve Scope
	timeout time.Duration
	named   bool     // a rule of the person names the skill
	lowered bool     // a rule of the person makes the class safe
	trust   bool     // the terms hold once the person has trusted the skill's workspace
	rules   []string // the names of the rules that were applied, the narrowest first
	unbound []string // patterns of rules that belong to no origin yet for the skill's name
	foreign []string // rules that belong to another origin, with it
}

// settle returns the terms of a subject. The error, a [*run.Error], refuses its calls for
// everybody of the profile.
func (p *settler) settle(ctx context.Context, s subject) (*terms, error) {
	page := p.current().Book.read(ctx)
	found := p.matches(page, s)
	if why := p.missing(page, found, s); why != "" {
		return nil, denied("skill %s is not available: %s", s.skill.QualifiedName(), why).Told(stop)
	}
	all, _ := p.current().bounds(page, s.who)
	t, err := p.terms(found, s, all)
	if err != nil {
		return nil, err
	}
	return t, t.limit(p.current().Mode, s.skill)
}

// terms returns the terms of a subject by the rules about it, within bounds. With the error,
// a [*run.Error] about its hosts, their class is right all the same.
func (p *settler) terms(found []match, s subject, all []bound) (*terms, error) {
	t := apply(found, s.skill)
	t.mode = p.current().Mode
	for _, b := range all {
		if b.Mode.Narrows(t.mode) {
			t.mode = b.Mode
		}
		t.timeout = shorter(t.timeout, time.Duration(b.Timeout))
		if b.Secrets != nil {
			t.secrets = slices.DeleteFunc(slices.Clone(t.secrets), func(g run.SecretGrant) bool { return !slices.Contains(b.Secrets, g.Name) })
		}
	}
	if s.install { // rules lower the class of what is known
		t.class, t.named = skills.Dangerous, slices.ContainsFunc(found, func(m match) bool { return m.Pattern == s.skill.Name && !m.Narrows })
	}
	err := p.addHosts(t, found, s.skill)
	t.addSecretHosts()
	if err != nil || len(t.hosts) > 0 || t.write || len(t.env)+len(t.secrets) > 0 {
		t.class = stricter(t.class, skills.Mutating)
	}
	return t, err
}

// matches returns the rules about a subject, the narrowest first; of equal width, those of
// the configuration before those of the book.
func (p *settler) matches(page *page, s subject) []match {
	if len(p.current().Rules)+len(page.rules) == 0 {
		return nil
	}
	origin := s.skill.Origin()
	found := matches(matches(nil, p.current().Rules, s.skill, origin), page.rules, s.skill, origin)
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.width, a.width) })
	for i := range found {
		m := &found[i]
		switch {
		case m.Stored:
			same := m.Digest == "" || s.digest == "" || s.digest == m.Digest || origin.Kind == skills.OriginOwn
			m.widens = m.widens && (same || s.accepted)
		case m.widens && m.belongs(s.skill):
			m.owner = page.origin(m.Pattern, s.skill.QualifiedName())
			m.widens = m.owner == "" || m.owner == origin.String()
		}
	}
	return found
}

// absent is missing, by the rules of now.
func (p *settler) absent(ctx context.Context, s subject) string {
	page := p.current().Book.read(ctx)
	return p.missing(page, p.matches(page, s), s)
}

// missing returns why the skill of a subject does not exist for its principal, or "". found
// are the rules about the skill. A tool of a skill that does not exist does not exist.
func (p *settler) missing(page *page, found []match, s subject) string {
	if by := disabledBy(found); by != "" {
		return "it is disabled by " + by
	}
	all, why := p.current().bounds(page, s.who)
	if why == "" {
		why = p.excluded(found, s, all)
	}
	if why == "" && s.skill.Of != nil {
		s.skill = s.skill.Of
		return p.missing(page, p.matches(page, s), s)
	}
	return why
}

// excluded returns why bounds leave out the skill of a subject, or "".
func (p *settler) excluded(found []match, s subject, all []bound) string {
	for _, b := range all {
		if why := b.excludes(s.skill); why != "" {
			return why
		}
		most := b.highest()
		if most == "" || s.tool {
			continue
		}
		if t, _ := p.terms(found, s, all); rank(t.class) > rank(most) {
			return fmt.Sprintf("it is %s, and %s allows at most %s", t.class, b.key, most)
		}
	}
	return ""
}

// disabledBy returns the name of the rule that disables the skill of matches, or "".
func disabledBy(found []match) string {
	decided := -1
	for _, m := range found {
		switch {
		case m.Enabled == nil || m.width < decided && !m.Narrows:
		case !*m.Enabled:
			return m.Name
		default:
			decided = max(decided, m.width)
		}
	}
	return ""
}

// apply returns the terms by the rules about a skill, without hosts.
func apply(found []match, skill *skills.Skill) *terms {
	t := &terms{class: skill.Class}
	var set Rule // the fields that were decided
	for _, m := range found {
		if m.Narrows {
			continue
		}
		if t.apply(m.Rule, &set, m.widens) {
			t.rules = append(t.rules, m.Name)
		}
		switch belongs := !m.Stored && m.belongs(skill); {
		case belongs && m.widens && m.owner == "":
			t.unbound = append(t.unbound, m.Pattern)
		case belongs && m.owner != "" && !m.widens:
			t.foreign = append(t.foreign, fmt.Sprintf("%s belongs to %s", m.Name, m.owner))
		}
	}
	// A plugin's server and hooks declare no class: what they may write is for the person to say.
	declares := !skill.OfHooks() && (skill.Entry == nil || skill.Entry.Server == nil)
	t.write = declares && set.Write == nil && t.class != skills.Safe || t.write
	for _, m := range found {
		if m.Narrows && t.narrow(m.Rule) {
			t.rules = append(t.rules, m.Name)
		}
	}
	return t
}

// apply applies a rule of the person to the fields that no narrower one has set. It
// reports whether one was left. A rule that may not widen sets what gives less.
func (t *terms) apply(r *Rule, set *Rule, widens bool) (used bool) {
	if r.Class != "" && set.Class == "" && (widens || rank(r.Class) > rank(t.class)) {
		t.class, set.Class, used = r.Class, r.Class, true
		t.lowered = r.Class == skills.Safe
	}
	if r.Write != nil && set.Write == nil && (widens || !*r.Write) {
		t.write, set.Write, used = *r.Write, r.Write, true
	}
	if r.Unprotected != nil && t.paths == nil && widens {
		t.paths, used = r.Unprotected, true
	}
	if r.Env != nil && t.env == nil && widens {
		t.env, used = r.Env, true
	}
	if r.Secrets != nil && t.secrets == nil && widens {
		t.secrets, used = r.Secrets, true
	}
	if r.Calls != nil && set.Calls == nil && (widens || len(r.Calls) == 0) {
		t.calls, set.Calls, used = r.Calls, r.Calls, true
	}
	if r.Approve != "" && t.approve == "" && (widens || r.Approve == Each || r.Approve == Once) {
		t.approve, used = r.Approve, true
	}
	if r.Timeout > 0 && t.timeout == 0 {
		t.timeout, used = r.Timeout, true
	}
	t.named = t.named || widens && r.names()
	return used
}

// narrow applies a rule of somebody who may only narrow. It reports whether that changed
// something.
func (t *terms) narrow(r *Rule) bool {
	before := *t
	t.class = stricter(t.class, r.Class)
	if r.Approve != "" {
		t.approve = Each
	}
	t.timeout = shorter(t.timeout, r.Timeout)
	return before.class != t.class || before.approve != t.approve || before.timeout != t.timeout
}

// addHosts adds the hosts of a skill to its terms: those of the narrowest rule, or else
// those that it declares.
func (p *settler) addHosts(t *terms, found []match, skill *skills.Skill) error {
	for _, m := range found {
		if m.Hosts == nil || len(m.Hosts) > 0 && !m.widens {
			continue
		}
		for _, host := range m.Hosts {
			t.hosts = append(t.hosts, host.String())
		}
		t.rules = append(t.rules, m.Name)
		return nil
	}
	if t.lowered || skill.Entry == nil || len(skill.Entry.Network) == 0 {
		return nil
	}
	name := skill.QualifiedName()
	for _, declared := range skill.Entry.Network {
		host, err := egress.ParseRule(declared)
		if err != nil {
			return &run.Error{Code: run.Unavailable, Message: fmt.Sprintf("skill %s cannot run: sandbox.network: %v", name, err), Err: err}
		}
		if !host.Public() && !slices.ContainsFunc(p.current().Hosts, func(r egress.Rule) bool { return r.Covers(host) }) {
			return denied("skill %s connects to %s, which is not public and not granted: sandbox.network.allow in the configuration lacks %q", name, host, host).Told("ask the person whether to add it")
		}
		t.hosts = append(t.hosts, host.String())
	}
	return nil
}

// addSecretHosts adds the hosts of the secrets of terms to those of the skill.
func (t *terms) addSecretHosts() {
	for _, g := range t.secrets {
		for _, host := range g.Hosts {
			if !slices.Contains(t.hosts, host) {
				t.hosts = append(t.hosts, host)
			}
		}
	}
}

// limit returns an error if the mode refuses the class of terms. policy is the mode of the
// configuration.
func (t *terms) limit(policy Mode, skill *skills.Skill) error {
	switch {
	case t.class == skills.Safe:
		return nil
	case policy == ReadOnly:
		return denied("skill %s is %s, and the mode read-only of the configuration (policy.mode) runs safe skills only", skill.QualifiedName(), t.class).Told(stop)
	case t.class == skills.Dangerous && t.mode == Confirm && !t.named:
		return unnamed(skill)
	}
	return nil
}

// unnamed returns the refusal of a dangerous skill that no rule names. A person is given
// the command that names it, which asks on a terminal; a model is not.
func unnamed(skill *skills.Skill) error {
	name := skill.QualifiedName()
	e := denied("skill %s is dangerous, and no rule of the person names it", name).Told("ask the person whether to name it in policy.skills of the configuration")
	e.Message = fmt.Sprintf("skill %s is dangerous, and no rule of yours names it; name it in policy.skills of the configuration", termtext.Visible(name))
	if plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-/_") == ""; plain && skill.Entry != nil { // nothing of it means something to a shell
		e.Message += ", or with: skills-mcp grant " + name + " --approve each"
	}
	return e
}

// signatures returns the number of people who have to confirm a run on the terms.
func (t *terms) signatures() int {
	switch {
	case t.class == skills.Safe && t.approve != Each && t.approve != Once && !t.trust:
		return 0
	case t.class != skills.Safe && t.mode == DualSign:
		return 2
	}
	return 1
}

// version identifies terms, for approvals that were given under them.
func (t *terms) version() string {
	text := fmt.Appendf(nil, "%s %s %t %q %q %q %s %s %t", t.mode, t.class, t.write, t.hosts, t.env, t.calls, t.approve, t.timeout, t.named)
	for _, g := range t.secrets {
		text = fmt.Appendf(text, " %q", g.String())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// rule names the rules of terms, for people.
func (t *terms) rule() string {
	if len(t.rules) > 0 {
		return strings.Join(slices.Compact(t.rules), ", ")
	}
	if t.class == skills.Safe {
		return "the class safe"
	}
	return fmt.Sprintf("the class %s in the mode %s", t.class, t.mode)
}

// shorter returns the shorter of two times, of which 0 is unbounded.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
