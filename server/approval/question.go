package approval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Question describes a call that a person is asked to confirm. All texts are raw: strangers wrote
// most of them.
type Question struct {
	// ID is that of the record; "" as long as there is none.
	ID string `json:"-"`

	Skill  string            `json:"skill"`
	Kind   skills.OriginKind `json:"origin"`
	Place  string            `json:"place"`
	Digest string            `json:"digest"`
	Class  skills.Class      `json:"class"`
	Rule   string            `json:"rule,omitempty"`
	// Caller is the party that wants to run it.
	Caller string `json:"caller"`
	// Args are the arguments by name, sorted.
	Args []Argument `json:"args" jsonschema:"nullable"`
	// All has the size and the digest of the arguments together.
	All Argument `json:"-"`
	// Input reports that it also reads what the caller passes on standard input.
	Input bool   `json:"input,omitempty"`
	Runs  string `json:"runs"`
	// Code reports that it runs the code among the arguments, which is never cut.
	Code bool `json:"code,omitempty"`

	// SeesCalls reports that its hooks run around calls.
	SeesCalls bool `json:"sees_calls,omitempty"`

	// Home is the home folder of the person, for sentences; "" is not known.
	Home string `json:"-"`

	Reads     []string `json:"reads,omitempty"`     // folders
	Writes    []string `json:"writes,omitempty"`    // folders
	Protected []string `json:"protected,omitempty"` // paths of them that are protected from others
	Hosts     []string `json:"hosts,omitempty"`
	Variables []string `json:"variables,omitempty"`
	Secrets   []string `json:"secrets,omitempty"` // a line each
	Calls     []string `json:"calls,omitempty"`   // patterns of skills
	// Requests are the secrets that it asks for and is not given, each with the commands that
	// grant it.
	Requests []string `json:"requests,omitempty"`

	// Review describes the installation that the question is about; nil is of a skill.
	Review *run.Review `json:"review,omitempty"`
	// Trust is the workspace that a yes trusts; nil is none.
	Trust *run.Trust `json:"trust,omitempty"`
	// Fetch are the files of another MCP server that a yes fetches; nil is none. Nothing
	// runs then.
	Fetch *run.Fetch `json:"fetch,omitempty"`
	// Grown are the capabilities that the skill has gained since it was accepted.
	Grown []string `json:"grown,omitempty"`
	// Scan has the findings in its files, in a line; "" is none.
	Scan string `json:"scan,omitempty"`
	// Hook is the reason for which a hook of a plugin wants a person asked; "" is none.
	Hook string `json:"hook,omitempty"`
	// Differs are the ways in which the call differs from the last approved one.
	Differs []string `json:"differs,omitempty"`
	// Needed is the number of people who have to confirm; Signed names those who have.
	Needed int      `json:"needed"`
	Signed []string `json:"signed,omitempty"`
	// Scopes are the answers that confirm it, the likeliest first.
	Scopes []Scope `json:"scopes"`
	// Kinds are further answers, for a kind of call, which no form offers.
	Kinds []Scope `json:"kinds,omitempty"`
	// Below are the paths of the call; nil is none. Plugin is that of the skill; nil is none,
	// or nobody was asked about it.
	Below  *Below         `json:"below,omitempty"`
	Plugin *PluginVersion `json:"plugin,omitempty"`
}

// Below are the paths of a call, with a folder that contains them.
type Below struct {
	Folder string   `json:"folder"`     // absolute, without links
	Names  []string `json:"parameters"` // that are paths below it
	Args   string   `json:"args"`       // identifies them and the other arguments
}

// A PluginVersion is a plugin with its files that a question is about.
type PluginVersion struct {
	Name string `json:"name"`
	// Skills are the digests of its skills by their folders below the plugin's.
	Skills map[string]string `json:"skills"`
}

// An Argument is one argument of a call.
type Argument struct {
	Name string `json:"name"`
	// Value is the JSON of the value, or the shortened one, with its first and last
	// characters, if that is too long to be stored.
	Value string `json:"value"`
	// Size is the length of the JSON in bytes, and Sum its sha256.
	Size int    `json:"size"`
	Sum  string `json:"sha256"`
}

// A Scope is an answer that confirms a call.
type Scope string

// The answers.
const (
	No      Scope = "no"
	Once    Scope = "once"
	Session Scope = "this session"
	Always  Scope = "always"
)

// The answers for a kind of call, which the page and a terminal offer, and no form.
const (
	Same        Scope = "same"   // these arguments
	BelowFolder Scope = "below"  // other paths below a folder
	WholePlugin Scope = "plugin" // all skills of the plugin
)

const (
	// maxStored bounds an argument that is stored whole, in bytes, and all of them.
	maxStored    = 128 << 10
	maxAllStored = maxStored
	// minStored is the part of an argument that is stored in any case.
	minStored = 256
	// digestShown is the number of characters of a digest that people compare.
	digestShown = 12
)

// newQuestion returns the question about a proposal, without its history.
func newQuestion(p *run.Proposal) *Question {
	origin, d := p.Skill.Origin(), p.Decision
	q := &Question{
		Skill: p.Skill.Consented().QualifiedName(), SeesCalls: p.Skill.SeesCalls(), Kind: origin.Kind, Place: origin.Place, Digest: p.Digest, Class: cmp.Or(d.Class, p.Skill.Class), Rule: d.Rule,
		Caller: caller(p), Args: arguments(p.Args), Runs: program(p), Code: p.Action == run.ActionCode,
		Hosts: p.Command.Grant.Hosts, Variables: p.Variables, Secrets: d.SecretLines(), Calls: d.Calls,
		Review: p.Review, Trust: d.Trust, Fetch: d.Fetch, Grown: d.Grown, Scan: d.Scan, Hook: d.Hook, Needed: max(1, d.Signatures), Scopes: scopes(p),
	}
	for _, r := range run.SecretRequests(p.Skill, func(name string) bool {
		return slices.ContainsFunc(d.Secrets, func(g run.SecretGrant) bool { return g.Name == name || g.Variable() == name }) || slices.Contains(p.Variables, name)
	}) {
		q.Requests = append(q.Requests, r.Message+"; "+r.Remedy)
	}
	all := encode(p.Args)
	q.All = Argument{Size: len(all), Sum: digestOf(all)}
	q.offer(p)
	if _, argument := p.Command.Stdin.(*bytes.Reader); p.Command.Stdin != nil && !argument {
		q.Input = true
	}
	if p.Command.Grant.Write {
		q.Writes, q.Protected = p.Command.Grant.Workspaces, p.Command.Grant.Unprotected
	} else {
		q.Reads = p.Command.Grant.Workspaces
	}
	return q
}

// offer adds the answers for a kind of call, of those that apply to a proposal whose
// approval may last.
func (q *Question) offer(p *run.Proposal) {
	if slices.Index(q.Scopes, Always) <= 0 {
		return
	}
	if len(p.Args) > 0 {
		q.Kinds = append(q.Kinds, Same)
	}
	if paths := p.Paths(); len(paths) > 0 {
		q.Below = below(p, paths, common(paths))
		q.Kinds = append(q.Kinds, BelowFolder)
	}
}

// below returns the paths of a proposal below a folder.
func below(p *run.Proposal, paths map[string][]string, folder string) *Below {
	b, rest := &Below{Folder: folder}, maps.Clone(p.Args)
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		if !slices.ContainsFunc(paths[name], func(path string) bool { return !skillfs.Inside(folder, path) }) {
			b.Names = append(b.Names, name)
			delete(rest, name)
		}
	}
	others, _ := json.Marshal(rest) // sorted by name; of JSON, so it is some
	b.Args = digest(append([]string{"below", folder, string(others)}, b.Names...)...)
	return b
}

// common returns the folder that contains all paths: a folder contains itself.
func common(paths map[string][]string) string {
	var folder string
	for path := range maps.Values(paths) {
		for _, path := range path {
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				path = filepath.Dir(path)
			}
			folder = cmp.Or(folder, path)
			for !skillfs.Inside(folder, path) {
				folder = filepath.Dir(folder)
			}
		}
	}
	return folder
}

// scopes returns the answers that a decision allows. A session is offered to principals
// that have one.
func scopes(p *run.Proposal) []Scope {
	d := p.Decision
	lasting := !d.Each && d.Signatures < 2 && d.Class != skills.Dangerous
	switch {
	case d.Fetch != nil: // a yes lasts for as long as the files stay the same
		return []Scope{Once}
	case !lasting:
		return []Scope{Once}
	case p.Way == run.WayHook && len(d.Grown) == 0: // nobody is asked at the next call
		all := slices.DeleteFunc(lastingScopes(p), func(s Scope) bool { return s == Once })
		if slices.Reverse(all); len(all) > 0 { // always, and the session
			return all
		}
	}
	return lastingScopes(p)
}

// lastingScopes returns the answers of a decision whose approval may last.
func lastingScopes(p *run.Proposal) []Scope {
	d := p.Decision
	switch {
	case d.Session && p.Principal.Session == "":
		return []Scope{Once}
	case d.Session:
		return []Scope{Once, Session} // a terminal has no session
	case d.Always:
		return []Scope{Always, Once}
	case p.Principal.Session != "":
		return []Scope{Once, Session, Always}
	}
	return []Scope{Once, Always}
}

// endsWithFiles reports whether an approval of all calls ends with any change of the skill's
// files: it sees all calls, or is a stranger's and may write or reach hosts, and nobody knows
// which of its files a script executes, or reads its commands from.
func (q *Question) endsWithFiles() bool {
	return q.SeesCalls || q.Kind != skills.OriginOwn && len(q.Writes)+len(q.Hosts) > 0
}

// OfMachine reports whether a yes changes more than the calls of its principal, so that the
// person of this machine alone gives it.
func (q *Question) OfMachine() bool {
	return q.Review != nil || q.Trust != nil || q.Fetch != nil || len(q.Grown) > 0
}

// caller names the party that wants to run a skill.
func caller(p *run.Proposal) string {
	switch n := len(p.Stack); {
	case n > 0:
		return "the skill " + quote(strings.Join(p.Stack, " → "))
	case p.Way == run.WayHook:
		return "skills-mcp, around other calls"
	case p.Way == run.WayCommand:
		return "you, on the command line"
	case p.Way == run.WayPage && p.Principal.Kind == identity.Person:
		return "you, on the page"
	case p.Way == run.WayPage && p.Principal.Answers():
		return quote(p.Principal.Label()) + ", on the page"
	case p.Way == run.WayPage:
		return "somebody on the page who has proved no person"
	case p.Way == run.WayREST:
		return "a program, over the REST API"
	}
	return "a model"
}

// wroteCode names code in questions.
const wroteCode = "code that a model wrote"

// program returns the script of a skill, with … for an inline program.
func program(p *run.Proposal) string {
	entry := p.Skill.Entry
	if p.Action == run.ActionCode {
		return wroteCode
	}
	if entry == nil {
		return "nothing"
	}
	if hooks := p.Skill.Owner().Tools; entry.Hook != nil {
		words := []string{}
		for _, tool := range hooks {
			words = append(words, tool.Entry.Hook.String())
		}
		return "the hooks " + strings.Join(words, "; ")
	}
	if to := entry.Server; to != nil {
		return "the MCP server " + cmp.Or(to.Server.Command, to.Server.URL) + packages(p)
	}
	words := append(slices.Clone(entry.Interpreter), entry.Script)
	for i, word := range words {
		if strings.Contains(word, "\n") {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ") + packages(p)
}

// packages returns words about the packages that a call has installed; "" is none.
func packages(p *run.Proposal) string {
	const most = 5
	var all []string
	for _, d := range p.Command.Dependencies {
		all = append(all, d.Packages...)
	}
	if len(all) > most {
		all = append(all[:most:most], "…")
	}
	if len(all) == 0 {
		return ""
	}
	return ", installs " + strings.Join(all, ", ")
}

// arguments returns the arguments of a call. Those beyond the bounds are shortened.
func arguments(given map[string]any) []Argument {
	var all []Argument
	room := maxAllStored
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := encode(given[name])
		a := Argument{Name: name, Value: value, Size: len(value), Sum: digestOf(value)}
		if bound := max(min(maxStored, room), minStored); len(value) > bound {
			a.Value = shorten(value, bound)
		}
		room -= len(a.Value)
		all = append(all, a)
	}
	return all
}
