package approval

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Bounds are the size of a question's text.
type bounds struct {
	value int // bytes of a stranger's text
	args  int // arguments with lines of their own; the others share one
	grown int // lines about what is new
	lines int // of an installation
}

// form is the size that clients show in a form: the whole has at most 32 lines.
var form = bounds{value: 160, args: 7, grown: 4, lines: 24}

// trustForm is that of a question that also asks for trust in a workspace.
var trustForm = bounds{value: 160, args: 3, grown: 2}

// whole is the size of the text on a terminal, which pages.
var whole = bounds{value: maxStored, args: 1 << 10, grown: 1 << 10, lines: 1 << 20}

// mark begins the lines of strangers' text: no other line of a question does.
const mark = "> "

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
		fmt.Sprintf("%s asks for it, with these arguments:", strings.ToUpper(q.Caller[:1])+q.Caller[1:]),
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
		mark + fmt.Sprintf("%s, %s %s", b.text(q.Skill), q.whose(), b.text(q.Place)),
		mark + "runs " + b.text(q.Runs) + ", digest",
		mark + b.digest(q.Digest),
	}
	if q.Rule != "" {
		all = append(all, "Rule: "+termtext.Visible(q.Rule))
	}
	return all
}

// whose returns the words for an origin, before its place.
func (q *Question) whose() string {
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

// text returns a stranger's text in quotes, shortened to the bounds.
func (b *bounds) text(text string) string {
	quoted := quote(text)
	return b.cut(quoted, len(text), func() string { return digestOf(text) })
}

// list returns strangers' texts in quotes, shortened to the bounds.
func (b *bounds) list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	all := strings.Join(quoted, ", ")
	return b.cut(all, len(all), func() string { return digestOf(all) })
}

// shown returns the value of an argument, shortened to the bounds.
func (b *bounds) shown(a Argument) string {
	text := termtext.Visible(a.Value)
	if a.Size > len(a.Value) { // it was stored so
		return note(a.Size, a.Sum) + " " + shorten(text, min(b.value, len(text)))
	}
	return b.cut(text, a.Size, func() string { return a.Sum })
}

// cut returns a text, or its head and tail after a note with its size and digest.
func (b *bounds) cut(text string, size int, sum func() string) string {
	if len(text) <= b.value {
		return text
	}
	return note(size, sum()) + " " + shorten(text, b.value)
}

// note says that a text is not shown whole.
func note(size int, sum string) string {
	return fmt.Sprintf("(NOT SHOWN WHOLE: %d bytes, sha256 %s; its beginning and its end:)", size, sum)
}

// digest returns a digest, or the part of it that people compare.
func (b *bounds) digest(digest string) string {
	if b == &whole {
		return termtext.Visible(digest)
	}
	return shortDigest(digest)
}

// shortDigest returns the characters of a digest that people compare.
func shortDigest(digest string) string {
	_, hex, found := strings.Cut(digest, ":")
	if !found {
		hex = digest
	}
	return termtext.Visible(hex[:min(len(hex), digestShown)])
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
