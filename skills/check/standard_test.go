package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills"
)

func TestStandard(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string // "line:col: message (remedy)"
	}{
		"all that is allowed": {
			"---\nname: demo\ndescription: d\nlicense: MIT\ncompatibility: Needs git.\nmetadata:\n  author: Ann\n  version: \"1.0\"\nallowed-tools: Bash(git:*) Read\n---\n", nil,
		},
		"the longest that is allowed": {
			"---\nname: demo\ndescription: " + strings.Repeat("é", 1024) + "\ncompatibility: " + strings.Repeat("c", 500) + "\n---\n", nil,
		},
		"no frontmatter": {
			"# Demo\n", []string{`1:1: there is no frontmatter (begin the file with name and description between two lines "---")`},
		},
		"nothing in it": {
			"---\n---\n", []string{"1:1: there is no name, which the standard requires (add it)", "1:1: there is no description, which the standard requires (add it)"},
		},
		"another name": {
			"---\nname: \"My Demo\"\ndescription: d\n---\n", []string{
				`2:7: the name "My Demo" is not one that the standard allows (write my-demo)`,
				`2:7: the name "My Demo" differs from the folder's, "demo" (give both the same name)`,
			},
		},
		"underscores":        {"---\nname: de_mo\ndescription: d\n---\n", []string{`2:7: the name "de_mo" is not one that the standard allows (write de-mo)`, `2:7: the name "de_mo" differs from the folder's, "demo" (give both the same name)`}},
		"two hyphens":        {"---\nname: de--mo\ndescription: d\n---\n", []string{`2:7: the name "de--mo" is not one that the standard allows (write de-mo)`, `2:7: the name "de--mo" differs from the folder's, "demo" (give both the same name)`}},
		"letters of others":  {"---\nname: démo\ndescription: d\n---\n", []string{`2:7: the name "démo" is not one that the standard allows (use a-z, 0-9 and single hyphens between them)`, `2:7: the name "démo" differs from the folder's, "demo" (give both the same name)`}},
		"a long name":        {"---\nname: " + strings.Repeat("a", 65) + "\ndescription: d\n---\n", []string{"2:7: the name is 65 characters long; the standard allows 64 (shorten it to 64)", fmt.Sprintf("2:7: the name %q differs from the folder's, \"demo\" (give both the same name)", strings.Repeat("a", 65))}},
		"a name of a number": {"---\nname: 1\ndescription: d\n---\n", []string{`2:1: "name" is not text (write text, in quotes if need be)`}},
		"an empty text":      {"---\nname: demo\ndescription: ''\ncompatibility: ' '\n---\n", []string{`3:1: "description" is empty (write it)`, `4:1: "compatibility" is empty (write it, or leave the key out)`}},
		"a long description": {"---\nname: demo\ndescription: " + strings.Repeat("é", 1025) + "\n---\n", []string{"3:14: the description is 1025 characters long; the standard allows 1024 (shorten it to 1024)"}},
		"long compatibility": {"---\nname: demo\ndescription: d\ncompatibility: " + strings.Repeat("c", 501) + "\n---\n", []string{"4:16: the compatibility is 501 characters long; the standard allows 500 (shorten it to 500)"}},
		"lists and maps":     {"---\nname: demo\ndescription: [d]\ncompatibility: {a: b}\nallowed-tools: [Read]\nmetadata: text\n---\n", []string{`3:1: "description" is not text (write text, in quotes if need be)`, `4:1: "compatibility" is not text (write text, in quotes if need be)`, `5:1: "allowed-tools" is not text (write text, in quotes if need be)`, `6:1: "metadata" is not a map (write a map of texts)`}},
		"metadata of others": {"---\nname: demo\ndescription: d\nmetadata:\n  a: b\n  version: 1.0\n  tags: [x]\n---\n", []string{`6:3: "version" in metadata is not text (write it in quotes)`, `7:3: "tags" in metadata is not text (write it in quotes)`}},
		"keys of others":     {"---\nname: demo\ndescription: d\nscript: run.sh\n1: x\n---\n", []string{`4:1: "script" is not a key of the standard (leave it out, or check without --strict where a client needs it)`, `5:1: "1" is not a key of the standard (leave it out, or check without --strict where a client needs it)`}},
		"a colon":            {"---\nname: demo\ndescription: a: b\nx: y\n---\n", []string{"3:1: the frontmatter is not YAML, so other clients do not load it (quote values that contain a colon, or run check --fix)", `4:1: "x" is not a key of the standard (leave it out, or check without --strict where a client needs it)`}},
		"a colon at first":   {"---\ndescription: a: b\nname: demo\n---\n", []string{"2:1: the frontmatter is not YAML, so other clients do not load it (quote values that contain a colon, or run check --fix)"}},
		"no YAML at all":     {"---\nname: demo\ndescription: [a\n---\n", []string{"3:1: the frontmatter is not YAML, so other clients do not load it (quote values that contain a colon, or run check --fix)"}},
		"an alias":           {"---\nname: &n demo\ndescription: *n\n---\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Standard([]byte(test.text), "demo") {
				got = append(got, fmt.Sprintf("%d:%d: %s (%s)", f.Line, f.Col, f.Message, f.Remedy))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A file of very many faults is not told of all.
func TestStandardOfManyKeys(t *testing.T) {
	var text strings.Builder
	text.WriteString("---\nname: demo\ndescription: d\n")
	for i := range 50_000 {
		fmt.Fprintf(&text, "k%d: v\n", i)
	}
	text.WriteString("---\n")
	if n := len(Standard([]byte(text.String()), "demo")); n != maxFindings {
		t.Errorf("%d findings", n)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"demo": "demo", "My Skill": "my-skill", "a_b": "a-b", "team/tool": "team-tool", "--x--": "x", "v1.2": "v1-2",
		"": "", "---": "", "Café": "", "a:b": "", "C++": "", "a\nb": "", strings.Repeat("A", 65): "",
	} {
		if got := Normalize(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
		if got := IsName(name); got != (name == want && name != "") {
			t.Errorf("IsName(%q) is %v", name, got)
		}
	}
}

// What loading warns of and the standard forbids is told once.
func TestCovers(t *testing.T) {
	for name, test := range map[string]struct {
		finding Finding
		problem skills.Problem
		want    bool
	}{
		"the same":        {Finding{Key: "name", Line: 2}, skills.Problem{Severity: skills.Warning, Line: 2, Message: `the name "A" does not conform`}, true},
		"what is missing": {Finding{Key: "description", Line: 1}, skills.Problem{Severity: skills.Warning, Message: "there is no description"}, true},
		"another line":    {Finding{Key: "name", Line: 2}, skills.Problem{Severity: skills.Warning, Line: 3, Message: `the name "A"`}, false},
		"another subject": {Finding{Key: "description", Line: 3}, skills.Problem{Severity: skills.Warning, Line: 3, Message: "a value with a colon is not quoted"}, false},
		"an error":        {Finding{Key: "name", Line: 2}, skills.Problem{Severity: skills.Error, Line: 2, Message: "the name"}, false},
		"another key":     {Finding{Key: "script", Line: 2}, skills.Problem{Severity: skills.Warning, Line: 2, Message: "the script "}, false},
	} {
		if got := test.finding.Covers(test.problem); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
