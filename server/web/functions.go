package web

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/server/web/form"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// A section is a part of the navigation.
type section struct{ Name, Title, Path string }

// sections returns the navigation.
func sections(person bool) []section {
	all := []section{
		{"skills", "Skills", Path}, {"approvals", "Approvals", Path + "approvals"}, {"runs", "Runs", Path + "runs"}, {"secrets", "Secrets", Path + "secrets"},
	}
	if !person {
		return all
	}
	return append(all, []section{
		{"profiles", "Profiles", Path + "profiles"}, {"sources", "Sources", Path + "sources"}, {"clients", "Clients", Path + "clients"},
		{"doctor", "Doctor", Path + "doctor"}, {"settings", "Settings", Path + "settings"},
	}...)
}

// functions are the functions of all templates: path is the path of a skill's screen, asset
// that of a static file; ago, stamp, duration, bytes and short format values; visible
// has codes for the characters of a stranger's text that are not seen, and text leaves
// them out, with the colours of terminals.
func functions(a assets) map[string]any {
	return map[string]any{
		"asset": a.url, "sections": sections, "path": skillPath,
		"ago": ago, "stamp": stamp, "duration": duration, "bytes": byteSize, "format": time.Time.Format, "becomes": (*approval.Question).Becomes,
		"short": short, "reason": reason,
		"visible": termtext.Legible, "text": termtext.Text, "lines": splitLines, "entry": entryPath, "uninstall": uninstallPath,
		"diff": diffLines, "isPicture": isPicture, "isDocument": isDocument,
	}
}

// methods are the methods that templates call.
func methods() map[string][]any {
	return map[string][]any{
		"Action": {(*approval.Question).Action, question.Action}, "Form": {(*approval.Question).Form, question.Form}, "Whose": {(*approval.Question).Whose, question.Whose},
		"Arguments": {question.Arguments}, "Choices": {question.Choices, installation.Snapshot.Choices}, "Verb": {question.Verb}, "Wants": {question.Wants},
		"Blank": {(*form.Field).Blank}, "Control": {(*form.Field).Control}, "Depth": {(*form.Field).Depth},
		"Command": {finding.Command}, "Mark": {finding.Mark},
		"Could": {changed.Could}, "Elsewhere": {changed.Elsewhere}, "Scanned": {changed.Scanned},
		"Grown": {(*installation.Change).Grown}, "Lines": {(*installation.Change).Lines}, "Suspicious": {(*installation.Change).Suspicious},
		"Heading": {skillRow.Heading}, "Tone": {skillRow.Tone, shownProblem.Tone}, "Where": {shownProblem.Where},
		"Items": {operation.Items}, "Path": {operation.Path}, "State": {operation.State}, "Title": {operation.Title},
		"Kind": {(*approval.Record).Kind}, "Lasts": {(*decision).Lasts}, "Waits": {(*decision).Waits},
		"QualifiedName": {(*skills.Skill).QualifiedName}, "Untrusted": {(*skills.Skill).Untrusted, (*skills.Plugin).Untrusted},
		"IsZero": {time.Time.IsZero}, "Error": {error.Error}, "String": {fmt.Stringer.String},
	}
}

// skillPath returns the path of a skill's screen.
func skillPath(name string) string { return Path + "skills/" + url.PathEscape(name) }

// ago returns the distance of a time from now, for people.
func ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := time.Since(t)
	if d < 0 {
		return "in " + roughly(-d)
	}
	if d < 10*time.Second {
		return "just now"
	}
	return roughly(d) + " ago"
}

// roughly returns a distance in its largest unit.
func roughly(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{365 * 24 * time.Hour, "year"}, {24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / unit.size); n == 1 {
			return "1 " + unit.name
		} else if n > 1 {
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// stamp returns a time exactly.
func stamp(t time.Time) string { return t.Format(time.RFC3339) }

// duration returns a duration with three digits.
func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// byteSize returns a size for people. n is an int or an int64.
func byteSize(n any) string {
	switch n := n.(type) {
	case int:
		return sandbox.Bytes(int64(n))
	case int64:
		return sandbox.Bytes(n)
	}
	return fmt.Sprint(n)
}

// short returns the beginning of a digest, without its algorithm.
func short(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(len(digest), 12)]
}

// reason returns why a run did not end well, in one line; "" if it did.
func reason(r *store.Run) string {
	text := strings.Join(strings.Fields(r.Message), " ")
	switch {
	case r.Outcome == store.Interrupted:
		text = "skills-mcp was ended while it ran"
	case r.Outcome == audit.Refused: // the rest tells a model what to do
		text, _, _ = strings.Cut(text, "; ")
	case r.Exit != nil && *r.Exit != 0:
		text = strings.TrimSuffix(fmt.Sprintf("exit code %d: %s", *r.Exit, text), ": ")
	}
	return truncate.String(text, maxText)
}

// splitLines returns the lines of a text.
func splitLines(text string) []string { return strings.Split(text, "\n") }
