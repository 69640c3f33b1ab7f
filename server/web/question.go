package web

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxListed bounds the value of an argument in a list of questions, in bytes.
const maxListed = 2 << 10

// A question is a question to a person for the template "question".
type question struct {
	*approval.Question
	Whole bool // long arguments are not cut
}

// newQuestion returns a question for the template "question", with its arguments as whole
// as they are stored.
func newQuestion(q *approval.Question) question { return question{q, true} }

// Verb returns the words for the effect of a yes, before the name of the skill.
func (q question) Verb() string {
	switch {
	case q.Review != nil:
		return "install"
	case q.Fetch != nil:
		return "fetch and use"
	case q.Trust != nil:
		return "trust a workspace and run"
	case q.Code:
		return "run code of its own with the grant of"
	}
	return "run"
}

// Wants returns the caller and the verb, as the beginning of a sentence.
func (q question) Wants() string {
	who, verb := termtext.Visible(q.Caller), " wants"
	if strings.Contains(who, ", ") { // as in "you, on the page"
		who += ","
	}
	if strings.HasPrefix(who, "you,") {
		verb = " want"
	}
	return strings.ToUpper(who[:min(1, len(who))]) + who[min(1, len(who)):] + verb
}

// An argument is one of a question: its value in one line of JSON, and a note if that is
// not the whole.
type argument struct{ Name, Value, Note string }

// Arguments returns the arguments of a question.
func (q question) Arguments() []argument {
	var all []argument
	for _, a := range q.Args {
		value := a.Value
		if !q.Whole {
			value = truncate.String(value, maxListed)
		}
		shown := argument{Name: a.Name, Value: value}
		if len(value) != a.Size {
			shown.Note = fmt.Sprintf("Not shown whole: it has %d bytes, with the sha256 %s.", a.Size, a.Sum)
		}
		all = append(all, shown)
	}
	return all
}

// A choice is a button that answers a question.
type choice struct {
	Scope        approval.Scope
	Label, About string
}

// Choices returns the answers that confirm a question on the page, the likeliest first. A
// session is the client's own.
func (q question) Choices() []choice {
	var all []choice
	for _, scope := range q.Answers() {
		if scope == approval.Session {
			continue
		}
		label, about, _ := strings.Cut(q.Title(scope), ": ")
		if label == "Yes" {
			label, about = "Yes, "+about, ""
		}
		all = append(all, choice{scope, label, about})
	}
	return all
}
