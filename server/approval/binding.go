package approval

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// anyArgs stands for the arguments of an approval that covers all.
const anyArgs = "any"

// A Binding is the extent of an approval: a call that differs in one field is not covered.
// The digest alone may be another in an approval of all calls; see since.
type Binding struct {
	Skill   string `json:"skill"`   // the qualified name, and the origin
	Digest  string `json:"digest"`  // of the snapshot
	Args    string `json:"args"`    // the digest of the arguments, or "any"
	Grant   string `json:"grant"`   // the digest of the grant
	Rules   string `json:"rules"`   // the version of the decision
	Preview string `json:"preview"` // the digest of the question that was shown
}

// since reports whether b is the same as an earlier binding, or differs from it only in
// its digest: the earlier one is among the ancestors.
func (b Binding) since(earlier Binding, ancestors []string) bool {
	if slices.Contains(ancestors, earlier.Digest) {
		earlier.Digest = b.Digest
	}
	return b == earlier
}

// changed says which files of the skill have changed, of which some may be known.
func changed(files []string) string {
	if len(files) == 0 {
		return "the files of the skill have changed"
	}
	return "changed files are " + first(5, files, 80)
}

// differences returns the fields in which b differs from an earlier binding, for people.
// files lists the changed files, as far as they are known.
func (b Binding) differences(earlier Binding, files []string) []string {
	var all []string
	for _, field := range []struct {
		now, then, what string
	}{
		{b.Digest, earlier.Digest, changed(files)},
		{b.Args, earlier.Args, "the arguments are others"},
		{b.Grant, earlier.Grant, "what it may write, connect to or is given is not the same"},
		{b.Rules, earlier.Rules, "the rules of the configuration have changed"},
	} {
		if field.now != field.then && field.then != anyArgs {
			all = append(all, field.what)
		}
	}
	return all
}

// subject names the skill of a proposal in the store: its origin and its qualified name,
// as tools of one skill share its origin.
func subject(p *run.Proposal) string {
	name := p.Skill.Consented().QualifiedName() + "\n" + p.Skill.Origin().String()
	if p.Action == run.ActionCode { // a yes to the skill's own script covers no code, nor the reverse
		name += "\n" + string(run.ActionCode)
	}
	return name
}

// bind returns the binding of a proposal and its question. With every, it covers calls
// with other arguments, too.
func bind(p *run.Proposal, q *Question, every bool) Binding {
	b := Binding{
		Skill: subject(p), Digest: p.Digest, Args: anyArgs, Rules: p.Decision.Version,
		Grant: digest(grantOf(p)...),
		// A yes to a client's calls covers none of another skill's, nor the reverse.
		Preview: digest(slices.Concat(q.preview(every), p.Stack, p.Callers)...),
	}
	if !every {
		args, _ := json.Marshal(p.Args) // sorted by name; of JSON, so it is some
		b.Args = digest(string(args))
	}
	return b
}

// grantOf returns the grant of a proposal as texts.
func grantOf(p *run.Proposal) []string {
	g := p.Command.Grant
	write := "read-only"
	if g.Write {
		write = strings.Join(append([]string{"read-write"}, g.Unprotected...), "\n")
	}
	return append([]string{
		write, strings.Join(g.Workspaces, "\n"), strings.Join(g.Hosts, "\n"), strings.Join(p.Variables, "\n"), strings.Join(p.Decision.Calls, "\n"),
		p.Command.Role, string(p.Decision.Class), p.Decision.Timeout.String(),
	}, p.Decision.SecretLines()...)
}
