package elicit

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// Terminal returns a client that shows forms to the person at a terminal, line by line.
// One read of in may outlive the last question.
func Terminal(in io.Reader, out io.Writer) *Client {
	t := &terminal{in: in, out: out, lines: make(chan string)}
	return Forms(AskerFunc(t.ask), "on the command line only a person can be asked")
}

type terminal struct {
	in    io.Reader
	out   io.Writer
	once  sync.Once
	lines chan string // closed at the end of in
}

// maxTries is the number of times that a form is shown after wrong answers.
const maxTries = 3

func (t *terminal) ask(ctx context.Context, r *Request) (json.RawMessage, error) {
	var schema jsonschema.Schema
	message, form := r.Form()
	if err := json.Unmarshal(form, &schema); err != nil {
		return Refuse(err.Error()), nil
	}
	fmt.Fprintln(t.out, message)
	for range maxTries {
		answer, err := t.fill(ctx, r, &schema)
		if err != nil {
			return nil, err
		}
		wrong := r.Check(answer)
		if wrong == nil {
			return answer, nil
		}
		fmt.Fprintln(t.out, wrong)
	}
	return json.RawMessage(`{"action":"cancel"}`), nil
}

// fill shows one field after the other. The end of the input cancels.
func (t *terminal) fill(ctx context.Context, r *Request, form *jsonschema.Schema) (json.RawMessage, error) {
	if r.confirms || form.Properties == nil || form.Properties.Len() == 0 {
		return t.confirm(ctx)
	}
	content := map[string]any{}
	for p := form.Properties.Oldest(); p != nil; p = p.Next() {
		text, ok, err := t.prompt(ctx, label(p.Key, p.Value, slices.Contains(form.Required, p.Key)))
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return json.RawMessage(`{"action":"cancel"}`), nil
		case text != "":
			content[p.Key] = typed(p.Value.Type, text)
		case p.Value.Default != nil:
			content[p.Key] = p.Value.Default
		}
	}
	return json.Marshal(map[string]any{"action": mcp.ElicitationResponseActionAccept, "content": content})
}

func (t *terminal) confirm(ctx context.Context) (json.RawMessage, error) {
	text, ok, err := t.prompt(ctx, "[y/N]")
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return json.RawMessage(`{"action":"cancel"}`), nil
	case isYes(text):
		return json.RawMessage(`{"action":"accept","content":{"answer":"yes"}}`), nil
	}
	return json.RawMessage(`{"action":"decline"}`), nil
}

func isYes(text string) bool {
	return slices.Contains([]string{"y", "yes", "true"}, strings.ToLower(text))
}

// prompt reads a line; ok is false at the end of the input.
func (t *terminal) prompt(ctx context.Context, label string) (text string, ok bool, err error) {
	fmt.Fprint(t.out, termtext.Text(label)+" ")
	t.once.Do(func() { go t.read() })
	select {
	case text, ok = <-t.lines:
		return strings.TrimSpace(text), ok, nil
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
}

// read passes lines on. Nobody waits for it: a read of a terminal cannot be
// interrupted, and the program ends with the call.
func (t *terminal) read() {
	defer close(t.lines)
	for lines := bufio.NewScanner(t.in); lines.Scan(); {
		t.lines <- lines.Text()
	}
}

// label returns the prompt of a field: its title, type and default.
func label(name string, s *jsonschema.Schema, required bool) string {
	var b strings.Builder
	b.WriteString(name)
	if s.Title != "" {
		b.WriteString(", " + s.Title)
	}
	if s.Description != "" {
		b.WriteString(": " + s.Description)
	}
	kind := s.Type
	if choices := choices(s); len(choices) > 0 {
		kind = "of " + strings.Join(choices, ", ")
	}
	if s.Type == "array" {
		kind = "some, between commas, " + kind
	}
	if !required {
		kind += ", optional"
	}
	if s.Default != nil {
		kind += fmt.Sprintf(", by default %v", s.Default)
	}
	return "  " + strings.Join(strings.Fields(b.String()+" ("+kind+"):"), " ")
}

// choices returns the values of a field of an enumeration.
func choices(s *jsonschema.Schema) []string {
	if s.Items != nil {
		return choices(s.Items)
	}
	var all []string
	for _, value := range s.Enum {
		all = append(all, fmt.Sprint(value))
	}
	for _, one := range slices.Concat(s.OneOf, s.AnyOf) {
		all = append(all, fmt.Sprintf("%v (%s)", one.Const, one.Title))
	}
	return all
}

// typed returns a text as a value of a field's type. A text that does not fit is returned
// as it is, and the form refuses it.
func typed(kind, text string) any {
	switch kind {
	case "boolean":
		return isYes(text)
	case "number", "integer":
		if json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	case "array":
		var all []string
		for item := range strings.SplitSeq(text, ",") {
			all = append(all, strings.TrimSpace(item))
		}
		return all
	}
	return text
}
