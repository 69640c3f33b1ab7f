package approval

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Form returns the question for a form: at most 32 lines, of bounded length.
func (q *Question) Form() string {
	if q.Trust != nil {
		return strings.Join(q.text(&trustForm), "\n")
	}
	return strings.Join(q.text(&form), "\n")
}

// Terminal returns the lines of the question for a terminal, which shows arguments whole.
func (q *Question) Terminal() []string { return q.text(&whole) }

// summary returns one line for a person whose client shows no question.
func (q *Question) summary() string {
	b := bounds{value: 120}
	if q.Review != nil {
		return fmt.Sprintf("%s (%s) %s", termtext.Visible(q.Skill), shortDigest(q.Digest), termtext.Visible(q.Review.Summary))
	}
	if f := q.Fetch; f != nil {
		return fmt.Sprintf("%s (%s) would be fetched from %s: %s.", b.text(q.Skill), shortDigest(q.Digest), b.text(f.Address), size(f))
	}
	text := fmt.Sprintf("%s (%s, %s) would run with %s", b.text(q.Skill), q.Class, shortDigest(q.Digest), b.shown(joined(q.Args)))
	if len(q.Writes) > 0 {
		text += "; may write to " + b.list(q.Writes)
	}
	if len(q.Hosts) > 0 {
		text += "; may connect to " + b.list(q.Hosts)
	}
	if len(q.Variables) > 0 {
		text += "; is given " + b.list(q.Variables)
	}
	if q.Trust != nil {
		text += "; a yes also trusts all skills of the workspace " + b.text(q.Trust.Workspace)
	}
	return text + "." + q.gained()
}

// gained returns what the skill has gained, in a sentence for a model to pass on. It has
// none of the skill's passages, which follow a colon: they could be meant for the model.
func (q *Question) gained() string {
	const most = 6
	if len(q.Grown) == 0 {
		return ""
	}
	b := bounds{value: 120}
	var all []string
	for i, line := range q.Grown {
		if i == most {
			all = append(all, fmt.Sprintf("and %d more", len(q.Grown)-most))
			break
		}
		line, _, _ = strings.Cut(line, ": ")
		all = append(all, b.text(line))
	}
	return " It could do more now than a person has accepted: " + strings.Join(all, "; ") + "."
}

// text returns the lines of the question. The grant and the question itself come last, so
// that they are in sight.
func (q *Question) text(b *bounds) []string {
	if q.Fetch != nil {
		return append(q.fetch(b), q.request())
	}
	all := append(q.call(b), q.news(b)...)
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
	if q.Review == nil {
		all = append(append(all, q.trust(b)...), q.grant(b)...)
	}
	return append(all, q.request())
}

// preview returns the lines that an approval binds. One that covers every call binds
// nothing of this call's own, and its digest apart from them.
func (q *Question) preview(every bool) []string {
	if q.Fetch != nil {
		return q.fetch(&whole)
	}
	if every {
		other := *q
		other.Digest = ""
		return append(other.skill(&whole), q.grant(&whole)...)
	}
	return append(append(q.call(&whole), q.news(&whole)...), q.grant(&whole)...)
}

// call returns the lines about the call: who makes it, the skill and the arguments.
func (q *Question) call(b *bounds) []string {
	if q.Review != nil {
		return q.installation(b)
	}
	title := []string{
		"skills-mcp itself asks, no skill does: may this skill run?",
		fmt.Sprintf("It is %s, and called by %s.", q.Class, q.Caller),
	}
	return append(append(title, q.skill(b)...), q.arguments(b)...)
}

// installation returns the lines about an installation.
func (q *Question) installation(b *bounds) []string {
	all := []string{
		"skills-mcp itself asks, no skill does: may this be installed?",
		fmt.Sprintf("It is asked for by %s, with these arguments:", q.Caller),
		mark + b.shown(joined(q.Args)),
		"Its digest: " + b.digest(q.Digest),
	}
	lines := q.Review.Lines
	for i, line := range lines {
		if rest := lines[i:]; i == b.lines-1 && len(rest) > 1 {
			text := strings.Join(rest, "\n")
			return append(all, mark+fmt.Sprintf("%d MORE LINES ARE NOT SHOWN: %d bytes, sha256 %s; install it yourself, in a terminal, to see them", len(rest), len(text), digestOf(text)))
		}
		all = append(all, shorten(termtext.Visible(line), b.value+len(mark)))
	}
	return all
}

// skill returns the lines about the skill.
func (q *Question) skill(b *bounds) []string {
	all := []string{
		mark + fmt.Sprintf("%s, %s %s", b.text(q.Skill), q.Whose(), b.text(q.Place)),
		mark + "runs " + b.text(q.Runs) + ", digest",
		mark + b.digest(q.Digest),
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

// arguments returns a line for each argument, and one for those beyond the bounds.
func (q *Question) arguments(b *bounds) []string {
	if len(q.Args) == 0 && !q.Input {
		return []string{"Arguments: none"}
	}
	all := []string{"Arguments:"}
	for i, a := range q.Args {
		if rest := q.Args[i:]; i == b.args-1 && len(rest) > 1 {
			return append(all, mark+fmt.Sprintf("%d more: %s", len(rest), b.shown(joined(rest))))
		}
		all = append(all, mark+b.text(a.Name)+": "+b.shown(a))
	}
	if q.Input {
		all = append(all, "Standard input: what you pass there")
	}
	return all
}

// joined returns several arguments as one.
func joined(args []Argument) Argument {
	var parts []string
	for _, a := range args {
		parts = append(parts, encode(a.Name)+":"+a.Value)
	}
	value := "{" + strings.Join(parts, ",") + "}"
	return Argument{Value: value, Size: len(value), Sum: digestOf(value)}
}

// news returns the lines about capabilities that the skill has gained.
func (q *Question) news(b *bounds) []string {
	if len(q.Grown) == 0 {
		return nil
	}
	all := []string{"New, and not accepted by you yet:"}
	for i, line := range q.Grown {
		if rest := q.Grown[i:]; i == b.grown-1 && len(rest) > 1 {
			return append(all, mark+fmt.Sprintf("%d more: %s", len(rest), b.text(strings.Join(rest, "; "))))
		}
		all = append(all, mark+b.text(line))
	}
	return all
}

// grant returns the lines about the grant.
func (q *Question) grant(b *bounds) []string {
	var all []string
	list := func(label string, values []string, none string) {
		if len(values) == 0 {
			all = append(all, label+": "+none)
			return
		}
		all = append(all, label+":", mark+b.list(values))
	}
	if len(q.Reads) > 0 {
		list("It may read", q.Reads, "")
	}
	if len(q.Calls) > 0 {
		list("It may call the skills", q.Calls, "")
	}
	list("It may write to", q.Writes, "no folder of yours")
	list("It may connect to", q.Hosts, "nowhere")
	list("It is given the variables", q.Variables, "none")
	return all
}

// trust returns the lines about the workspace that a yes trusts, if there is one.
func (q *Question) trust(b *bounds) []string {
	if q.Trust == nil {
		return nil
	}
	all := []string{
		"You do not trust its workspace. A yes trusts all skills there, from now on:",
		mark + b.text(q.Trust.Workspace),
	}
	for i, change := range q.Trust.Changes {
		if rest := q.Trust.Changes[i:]; i == b.grown-1 && len(rest) > 1 {
			return append(all, mark+fmt.Sprintf("%d more: %s", len(rest), b.text(strings.Join(rest, "; "))))
		}
		all = append(all, mark+b.text(change))
	}
	return all
}

// Action returns the words for the effect of a yes.
func (q *Question) Action() string {
	if q.Review != nil {
		return "install it"
	}
	if q.Fetch != nil {
		return "fetch it"
	}
	return "run it"
}

// Title returns an answer in words: the answer, and its effect after a colon.
func (q *Question) Title(answer Scope) string {
	switch {
	case answer == No:
		return "No"
	case answer == Session:
		return "Yes, for this session: any arguments, until the client leaves"
	case answer == Always && q.endsWithFiles():
		return "Yes, always: any arguments, until one of its files or its grant changes"
	case answer == Always:
		return "Yes, always: any arguments, until the skill gains something or its grant changes"
	case q.Fetch != nil:
		return "Yes: fetch these files, and use them until they change"
	case q.Trust != nil:
		return "Yes: trust all skills of the workspace, and run this call"
	case q.Review != nil:
		return "Yes: install it"
	}
	return "Yes, once: this call only"
}

// request returns the question itself.
func (q *Question) request() string {
	if q.Review != nil {
		return "Install it?"
	}
	if q.Fetch != nil {
		return "Fetch it, and use it?"
	}
	if q.Trust != nil {
		return "Trust the workspace, and run it?"
	}
	return "Run it?"
}
