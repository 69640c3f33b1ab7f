package approval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Form returns the question for a form. Clients show its first lines only, or join all: the
// first says who wants what, and each of the first three is true on its own. Nothing but
// long arguments is shortened.
func (q *Question) Form() string { return strings.Join(q.text(form), "\n") }

// The size of a form. A question that is larger is asked elsewhere: no grant is cut.
const (
	maxForm      = 4 << 10 // bytes
	maxFormLines = 32
)

// fitsForm reports whether a form holds the question.
func (q *Question) fitsForm() bool {
	text := q.Form()
	return len(text) <= maxForm && strings.Count(text, "\n") < maxFormLines
}

// Terminal returns the lines of the question for a terminal, which shows arguments whole.
func (q *Question) Terminal() []string {
	all := q.text(whole)
	var rules []string
	for _, scope := range q.Answers() {
		if rule := q.Becomes(scope); rule != "" {
			rules = append(rules, mark+string(scope)+": "+rule)
		}
	}
	if len(rules) > 0 {
		rules = append([]string{"A yes for more than this call is one of these rules:"}, rules...)
	}
	return slices.Insert(all, len(all)-1, rules...)
}

// Answers returns the answers that confirm a question on the page and on a terminal: those
// for all calls come last, unless they are likeliest.
func (q *Question) Answers() []Scope {
	all := slices.Clone(q.Scopes)
	if at := slices.Index(all, Always); at > 0 {
		return slices.Insert(all, at, q.Kinds...)
	}
	return all
}

// summary returns one line for a person whose client shows no question.
func (q *Question) summary() string {
	text, complete := sentence(q)
	text += " (digest " + shortDigest(q.Digest) + ")."
	if q.Review != nil {
		return text + " It " + termtext.Visible(q.Review.Summary)
	}
	if q.Fetch == nil {
		text += " It may " + effects(q) + "."
	}
	if !complete {
		text += fmt.Sprintf(" Not all of the arguments is shown: they have %d bytes, sha256 %s.", q.All.Size, q.All.Sum)
	}
	return text + q.gained()
}

// gained returns what the skill has gained, in a sentence for a model to pass on. It has
// none of the skill's passages, which follow a colon: they could be meant for the model.
func (q *Question) gained() string {
	if len(q.Grown) == 0 {
		return ""
	}
	var all []string
	for _, line := range q.Grown {
		line, _, _ = strings.Cut(line, ": ")
		all = append(all, line)
	}
	return " It could do more now than a person has accepted: " + first(6, all, 120) + "."
}

// text returns the lines of the question. In a form the grant comes before the arguments,
// which may be long; a terminal pages, and has the grant in sight at its prompt.
func (q *Question) text(b bounds) []string {
	all := q.head(b)
	about, grant := append(q.skill(b), q.arguments(b)...), append(q.news(), q.trust()...)
	switch {
	case q.Fetch != nil:
		about = fetch(q, b)
	case q.Review != nil:
		about = append(append(q.arguments(b), "Its digest: "+b.digest(q.Digest)), q.Review.Lines...)
	default:
		grant = append(grant, q.grant()...)
		if len(q.Requests) > 0 {
			grant = marked(append(grant, "It does not have what it asks for:"), q.Requests)
		}
	}
	if b == whole {
		return append(append(append(all, about...), grant...), q.wording().request)
	}
	return append(append(all, grant...), about...)
}

// head returns the first lines of a question.
func (q *Question) head(b bounds) []string {
	opening, _ := sentence(q)
	if b == whole {
		opening += "."
	} else {
		opening += choice(q)
	}
	second := "skills-mcp asks this, not the skill. " + q.wording().state
	third := fmt.Sprintf("It is %s, and called by %s.", q.Class, q.Caller)
	if n := len(q.Grown); n > 0 {
		third = "It could do more now than you have accepted: " + first(1, q.Grown, 80) + ". " + third
	}
	all := []string{opening, second, third}
	if q.Scan != "" {
		all = append(all, "The scan of its files found "+q.Scan)
	}
	if q.Hook != "" {
		all = append(all, "You are asked since "+quote(q.Hook))
	}
	if len(q.Differs) > 0 {
		all = append(all, "Since the last approval of this skill: "+strings.Join(q.Differs, "; ")+".")
	}
	if q.Needed > 1 {
		signed := "nobody has confirmed it yet"
		if len(q.Signed) > 0 {
			signed = "confirmed so far by " + termtext.Visible(strings.Join(q.Signed, ", "))
		}
		all = append(all, fmt.Sprintf("It needs %d different people; %s.", q.Needed, signed))
	}
	return all
}

// preview returns the lines that an approval binds. One that covers every call binds
// nothing of this call's own, and its digest apart from them.
func (q *Question) preview(every bool) []string {
	switch {
	case q.Fetch != nil:
		return fetch(q, whole)
	case every:
		other := *q
		other.Digest = ""
		return append(other.skill(whole), q.grant()...)
	case q.Review != nil:
		return append(q.arguments(whole), append(q.Review.Lines, q.Digest)...)
	}
	return slices.Concat(q.skill(whole), q.arguments(whole), q.news(), q.grant(), []string{string(q.Class), q.Caller})
}

// skill returns the lines about the skill.
func (q *Question) skill(b bounds) []string {
	all := []string{
		mark + fmt.Sprintf("%s, %s %s", quote(q.Skill), q.Whose(), quote(q.Place)),
		mark + "runs " + quote(q.Runs) + ", digest",
		mark + b.digest(q.Digest),
	}
	if q.SeesCalls {
		all = append(all, "Its hooks run around all calls: they see their arguments and results, and can change and refuse them")
	}
	if q.Rule != "" {
		all = append(all, "Rule: "+termtext.Visible(q.Rule))
	}
	return all
}

// Whose returns the words for an origin, before its place.
func (q *Question) Whose() string {
	switch q.Kind {
	case "own":
		return "your own, in"
	case "installed":
		return "installed by you from elsewhere, in"
	case "workspace":
		return "of a workspace, which somebody else may have written, in"
	}
	if q.Kind == skills.OriginMCP {
		return "of another MCP server,"
	}
	return termtext.Visible(string(q.Kind)) + ", in"
}

// arguments returns a line for each argument.
func (q *Question) arguments(b bounds) []string {
	if len(q.Args) == 0 && !q.Input {
		return []string{"Arguments: none"}
	}
	all := []string{"Arguments:"}
	for _, a := range q.Args {
		text, _ := q.shown(b, a)
		all = append(all, mark+quote(a.Name)+": "+text)
	}
	if q.Input {
		all = append(all, "Standard input: what you pass there")
	}
	if b == form && q.cut() {
		all = append(all, "The whole, while it waits: skills-mcp approvals "+q.ID+", or the page")
	}
	return all
}

// cut reports whether a form cuts an argument.
func (q *Question) cut() bool {
	return slices.ContainsFunc(q.Args, func(a Argument) bool {
		_, cut := q.shown(form, a)
		return cut
	})
}

// shown returns the value of an argument in the bounds.
func (q *Question) shown(b bounds, a Argument) (text string, cut bool) {
	if q.Code {
		b = whole
	}
	return b.shown(a)
}

// news returns the lines about capabilities that the skill has gained.
func (q *Question) news() []string {
	if len(q.Grown) == 0 {
		return nil
	}
	return marked([]string{"New, and not accepted by you yet:"}, q.Grown)
}

// grant returns the lines about the grant. None is cut, and each item has its own.
func (q *Question) grant() []string {
	var all []string
	list := func(label string, values []string, none string) {
		if len(values) == 0 {
			all = append(all, label+": "+none)
			return
		}
		all = marked(append(all, label+":"), values)
	}
	if len(q.Reads) > 0 {
		list("It may read", q.Reads, "")
	}
	if len(q.Calls) > 0 {
		list("It may call the skills", q.Calls, "")
	}
	list("It may write to", q.Writes, "no folder of yours")
	if len(q.Protected) > 0 {
		list("There also to what your own programs run", q.Protected, "")
	}
	list("It may connect to", q.Hosts, "nowhere")
	list("It is given the variables", q.Variables, "none")
	if len(q.Secrets) > 0 {
		list("It uses your secrets", q.Secrets, "")
	}
	return all
}

// marked appends a line for each stranger's text.
func marked(all, texts []string) []string {
	for _, text := range texts {
		all = append(all, mark+quote(text))
	}
	return all
}

// trust returns the lines about the workspace that a yes trusts, if there is one.
func (q *Question) trust() []string {
	if q.Trust == nil {
		return nil
	}
	return marked([]string{
		"You do not trust its workspace. A yes trusts all skills there, from now on:",
		mark + quote(q.Trust.Workspace),
	}, q.Trust.Changes)
}

// wording has the words of a question that depend on what it is about.
type wording struct{ action, request, yes, state string }

// wording returns those of an installation, of files of another MCP server, of a workspace
// that is not trusted, or of a run.
func (q *Question) wording() wording {
	run := wording{"run it", "Run it?", "Yes, once: this call only", "It may " + effects(q) + "."}
	if q.SeesCalls {
		run.state = "It sees the arguments and results of all your calls, and can change and refuse them. " + run.state
	}
	switch {
	case q.Review != nil:
		return wording{"install it", "Install it?", "Yes: install it", "Nothing was changed yet."}
	case q.Fetch != nil:
		return wording{"fetch it", "Fetch it, and use it?", "Yes: fetch these files, and use them until they change", "It is a skill of another MCP server, and nothing of it was fetched yet."}
	case q.Trust != nil:
		run.request, run.yes = "Trust the workspace, and run it?", "Yes: trust all skills of the workspace, and run this call"
	}
	return run
}

// Action returns the words for the effect of a yes.
func (q *Question) Action() string { return q.wording().action }

// Title returns an answer in words: the answer, and its effect after a colon.
func (q *Question) Title(answer Scope) string {
	switch {
	case answer == No:
		return "No"
	case answer == Session && q.Code:
		return "Yes, for this session: any code with this grant, until the client leaves"
	case answer == Session:
		return "Yes, for this session: any arguments, until the client leaves"
	case answer == Always:
		return "Yes, always: " + q.Becomes(answer)
	case answer == Same:
		return "Yes, always for these arguments: " + q.Becomes(answer)
	case answer == BelowFolder:
		return "Yes, always for paths below this folder: " + q.Becomes(answer)
	case answer == WholePlugin:
		return "Yes, always for all skills of the plugin: " + q.Becomes(answer)
	}
	return q.wording().yes
}

// Becomes returns the rule that an answer for more than this call becomes, in one sentence;
// "" for other answers.
func (q *Question) Becomes(answer Scope) string {
	who, until := said(q.Skill, math.MaxInt), ", until it gains something or its grant changes."
	if q.endsWithFiles() {
		until = ", until one of its files or its grant changes."
	}
	switch answer {
	case Always:
		who += " with any arguments"
	case Same:
		who += " with exactly these arguments"
	case BelowFolder:
		who += " with any paths below " + said(q.Below.Folder, math.MaxInt) + " as " + every(q.Below.Names)
		if len(q.Args) > len(q.Below.Names) {
			who += " and its other arguments as here"
		}
	case WholePlugin:
		who = fmt.Sprintf("each of the %d skills of the plugin %s, with any arguments, unless it is dangerous or gets more than this", len(q.Plugin.Skills), said(q.Plugin.Name, math.MaxInt))
		until = ", until its files change."
	default:
		return ""
	}
	for _, grant := range []struct {
		verb string
		list []string
	}{{", writing to ", q.Writes}, {", there also to ", q.Protected}, {", connecting to ", q.Hosts}, {", given ", q.Variables}, {", with the secrets ", q.Secrets}, {", calling ", q.Calls}} {
		if len(grant.list) > 0 {
			who += grant.verb + every(grant.list)
		}
	}
	return "From now on runs without asking: " + who + until
}

// every returns strangers' texts for a sentence, of which none is cut.
func every(texts []string) string { return first(len(texts), texts, math.MaxInt) }
