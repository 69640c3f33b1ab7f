package skills

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func demoCatalog() *Catalog {
	return &Catalog{Skills: []*Skill{ // sorted by qualified name
		{Plugin: "more", Name: "code-map", Description: "Draws.", WhenToUse: "For an overview."},
		{Plugin: "more", Name: "commit", Description: "Writes messages."},
		{Plugin: "more", Name: "lint", Description: "Lints prose."},
		{Plugin: "tools", Name: "format", Description: "Formats code of every kind."},
		{Plugin: "tools", Name: "lint", Description: "Finds faults in code.", WhenToUse: "Before a commit."},
	}}
}

func TestLookup(t *testing.T) {
	catalog := demoCatalog()
	for name, want := range map[string]string{
		"tools/lint": "tools/lint",
		"format":     "tools/format",
		"lint":       `"lint" could be more/lint or tools/lint`,
		"formt":      `there is no skill "formt"; did you mean tools/format?`,
		"map":        `there is no skill "map"; did you mean more/code-map?`,
		"zzzzzzzz":   `there is no skill "zzzzzzzz"`,
		"":           `there is no skill ""`,
	} {
		skill, err := catalog.Lookup(name)
		var got string
		if err == nil {
			got = skill.QualifiedName()
		} else {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
		var notFound *NotFoundError
		if err != nil && !errors.As(err, &notFound) {
			t.Errorf("%q: error of type %T", name, err)
		}
	}
}

// The time to find what somebody may have meant grows with what they have written.
func TestLookupIsBounded(t *testing.T) {
	catalog := &Catalog{Skills: []*Skill{{Name: strings.Repeat("a", maxMeant)}}}
	for name, closest := range map[string]int{strings.Repeat("a", maxMeant-1): 1, strings.Repeat("a", maxMeant+1): 0} {
		_, err := catalog.Lookup(name)
		if notFound, ok := errors.AsType[*NotFoundError](err); !ok || len(notFound.Closest) != closest {
			t.Errorf("%d letters: %v", len(name), err)
		}
	}
}

func TestInstantiate(t *testing.T) {
	for _, test := range []struct{ body, args, want string }{
		{"Do $ARGUMENTS now.", "this thing", "Do this thing now."},
		{"Do $ARGUMENTS now.", "", "Do  now."},
		{"Do it.", "this", "Do it.\n\nARGUMENTS: this"},
		{"Do it.", "", "Do it."},
		{"$0 and $1 and $ARGUMENTS[1]", `one "two words"`, "one and two words and two words"},
		{"$0 and $5", "one", "one and $5"},
		{"Fix $issue on $branch", "12 main", "Fix 12 on main"},
		{"Fix $issue on $branch", "12", "Fix 12 on $branch"},
		{`costs \$1 and \$ARGUMENTS`, "x", "costs $1 and $ARGUMENTS\n\nARGUMENTS: x"},
		{`echo \$HOME $HOME`, "", `echo \$HOME $HOME`},
		{"Read ${CLAUDE_SKILL_DIR}/a and {baseDir}/b", "", "Read /dir/a and /dir/b"},
		{"Read ${CLAUDE_PLUGIN_ROOT}/a", "x", "Read /plugin/a\n\nARGUMENTS: x"},
		{"$ARGUMENTS", "$0 $ARGUMENTS", "$0 $ARGUMENTS"}, // values are not expanded again
		{"Now: !`date`", "", "Now: !`date`\n\nNote: commands written as !`…` above were not run; run them yourself where you need their output."},
	} {
		skill := &Skill{Instructions: test.body, Arguments: []string{"issue", "branch"}, PluginDir: "/plugin"}
		if got, err := skill.Instantiate(test.args, "/dir"); got != test.want || err != nil {
			t.Errorf("%q with %q:\n got %q, %v\nwant %q", test.body, test.args, got, err, test.want)
		}
	}
}

// The commands of a workspace that the person does not trust are never to be run.
func TestInstantiateUntrusted(t *testing.T) {
	for trusted, want := range map[bool]string{true: "run them yourself", false: "do not run them"} {
		skill := &Skill{Instructions: "Now: !`make`", Workspace: "/repo", Trusted: trusted}
		if got, err := skill.Instantiate("", ""); !strings.Contains(got, want) || strings.Contains(got, "yourself") != trusted || err != nil {
			t.Errorf("trusted %t: %q, %v", trusted, got, err)
		}
	}
}

func TestInstantiateIsBounded(t *testing.T) {
	skill := &Skill{Instructions: strings.Repeat("$ARGUMENTS ", 1024)}
	if got, err := skill.Instantiate(strings.Repeat("x", maxFilledIn/1024), ""); len(got) != maxFilledIn+1024 || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := skill.Instantiate(strings.Repeat("x", maxFilledIn/1024+1), ""); got != "" || err != ErrTooLong {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                      nil,
		"  ":                    nil,
		"a b\tc\nd":             {"a", "b", "c", "d"},
		`'a b' "c 'd'" e\ f`:    {"a b", "c 'd'", "e f"},
		`"" ''`:                 {"", ""},
		`a"b c"d`:               {"ab cd"},
		`'not closed`:           {"not closed"},
		`"a \" b" 'c \' `:       {`a " b`, `c \`},
		"fix issue #5 für mich": {"fix", "issue", "#5", "für", "mich"},
	} {
		if got := SplitWords(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
