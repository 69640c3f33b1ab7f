package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// When renders the start of a run: the time, with the date if that is not today's.
func When(t, now time.Time) string {
	t = t.In(now.Location())
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return t.Format(time.TimeOnly)
	case t.Year() == now.Year():
		return t.Format("02 Jan 15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// Duration renders a time with two or three digits; "" for none.
func Duration(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Subject returns the skill of a run, or its action.
func Subject(r *store.Run) string {
	switch {
	case r.Action == "skill":
		return r.Skill
	case r.Skill != "":
		return r.Action + " (" + r.Skill + ")"
	}
	return r.Action
}

// OutcomeText renders the outcome of a run.
func OutcomeText(r *store.Run) string {
	text := r.Outcome
	if r.Exit != nil && *r.Exit != 0 {
		text += fmt.Sprintf(" (exit %d)", *r.Exit)
	}
	if r.Times > 1 {
		text += fmt.Sprintf(" ×%d", r.Times)
	}
	return text
}

// By names the principal of a run, and the way by which the call came in.
func By(r *store.Run) string {
	return cmp.Or(r.Subject, r.Principal, "anonymous") + ", " + r.Way
}

// About returns the message of a run that did not end well, or its arguments.
func About(r *store.Run) string {
	if r.Message != "" {
		return plain.Flat(r.Message)
	}
	return plain.OneLine(string(r.Args), 200)
}

// printRows writes the rows that a function makes, without those that have no value; one
// without a key is empty.
func printRows(w io.Writer, rows func(row func(key, value string))) error {
	return terminal.Facts(w, func(w io.Writer) {
		rows(func(key, value string) {
			if key == "" {
				fmt.Fprintln(w)
			} else if value != "" {
				fmt.Fprintf(w, "%s\t%s\n", key, plain.Visible(value))
			}
		})
	})
}

// PrintRun writes all that is recorded about a run. answer are the words for its approval.
func PrintRun(w io.Writer, r *store.Run, answer string, children []*store.Run) error {
	return printRows(w, func(row func(key, value string)) {
		row("id", r.ID)
		row("skill", Subject(r))
		row("origin", r.Origin)
		row("digest", r.Digest)
		row("outcome", OutcomeText(r))
		row("error", r.Error)
		row("message", plain.Flat(r.Message))
		row("limit", r.Limit)
		row("started", r.Started.Format(time.RFC3339))
		row("time", Duration(r.Duration))
		row("by", strings.TrimSpace(cmp.Or(r.Principal, "anonymous")+" "+r.Subject))
		row("profile", r.Profile)
		row("way in", r.Way)
		row("called by", r.Parent)
		row("class", r.Class)
		row("rule", r.Rule)
		row("approval", r.Approval+answer)
		printGrant(row, r.Grant)
		printArguments(row, r.Args)
		printConnections(row, r.Connections)
		row("output", fmt.Sprintf("%s, and %s of errors; %s of files", sandbox.Bytes(r.Stdout), sandbox.Bytes(r.Stderr), sandbox.Bytes(r.Files)))
		for _, child := range children {
			row("called", fmt.Sprintf("%s: %s, %s", child.ID, Subject(child), OutcomeText(child)))
		}
	})
}

// printGrant writes a row for each part of a grant.
func printGrant(row func(key, value string), data json.RawMessage) {
	var grant struct {
		Workspaces []string
		Write      bool
		Hosts      []string
		Variables  []string
		Secrets    []string
	}
	if json.Unmarshal(data, &grant) != nil {
		return
	}
	key := "reads"
	if grant.Write {
		key = "writes"
	}
	row(key, strings.Join(grant.Workspaces, ", "))
	row("connects", strings.Join(grant.Hosts, ", "))
	row("is given", strings.Join(grant.Variables, ", "))
	for _, line := range grant.Secrets {
		row("uses", line)
	}
}

// printArguments writes a row for each argument.
func printArguments(row func(key, value string), data json.RawMessage) {
	var args map[string]json.RawMessage
	if json.Unmarshal(data, &args) != nil {
		row("arguments", string(data))
		return
	}
	key := "arguments"
	for _, name := range slices.Sorted(maps.Keys(args)) {
		row(key, "--"+name+" "+string(args[name]))
		key = " "
	}
}

// printConnections writes a row for each connection.
func printConnections(row func(key, value string), data json.RawMessage) {
	var all []sandbox.Connection
	if json.Unmarshal(data, &all) != nil {
		row("connections", string(data))
		return
	}
	for _, c := range all {
		text := fmt.Sprintf("%s: sent %s, got %s", c.Host, sandbox.Bytes(c.Sent), sandbox.Bytes(c.Got))
		if c.Refused != "" {
			text = c.Host + ": " + c.Refused
		}
		row("connected", text)
	}
}

// WriteJSONLine writes a value as one line of JSON.
func WriteJSONLine(w *bytes.Buffer, value any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	w.WriteString(terminal.EscapeJSON(line.String()))
	return nil
}

// StateOf returns the state of an approval for people.
func StateOf(r *approval.Record) string {
	if !r.Expires.After(time.Now()) && (r.State == "pending" || r.State == "given") {
		return "expired"
	}
	return r.State
}

// SignedBy names the people who have confirmed an approval, of how many.
func SignedBy(r *approval.Record) string {
	names := make([]string, len(r.Signatures))
	for i, s := range r.Signatures {
		names[i] = plain.Visible(s.String())
	}
	text := strings.Join(names, ", ")
	if r.Needed > 1 {
		text = strings.TrimSpace(fmt.Sprintf("%d of %d %s", len(names), r.Needed, text))
	}
	if text == "" {
		return "-"
	}
	return text
}
