package scan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

// only has the names of a list, and no others.
func only(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func TestLacks(t *testing.T) {
	at := skills.Place{
		OS: "linux", Name: "the sandbox", Programs: `image "default"`, Has: only("jq", "grep"), Env: only("HOME"),
		Config: only("a.b"), Capability: only("network"), Remedy: "set images.default to an image that has it",
		EnvRemedy: func(names []string) string { return "grant " + strings.Join(names, " ") },
	}
	unknown := at
	unknown.Has = nil
	for _, test := range []struct {
		requires       skills.Requires
		at             skills.Place
		reason, remedy string
	}{
		{skills.Requires{}, at, "", ""},
		{skills.Requires{OS: []string{"darwin", "linux"}, Bins: []string{"jq"}, AnyBins: []string{"rg", "grep"}, Env: []string{"HOME"}, Config: []string{"a.b"}, Capabilities: []string{"network"}}, at, "", ""},
		{skills.Requires{OS: []string{"darwin"}}, at, "needs darwin, and the sandbox is linux", ""},
		{skills.Requires{Bins: []string{"curl"}}, at, `needs curl in image "default"`, "set images.default to an image that has it"},
		{skills.Requires{Bins: []string{"curl", "jq", "gh"}}, at, `needs curl and gh in image "default"`, "set images.default to an image that has it"},
		{skills.Requires{AnyBins: []string{"rg", "ag"}}, at, `needs rg or ag in image "default"`, "set images.default to an image that has it"},
		{skills.Requires{Bins: []string{"curl"}, AnyBins: []string{"rg"}}, unknown, "", ""},
		{skills.Requires{Env: []string{"KEY"}}, at, "needs KEY in the environment of the sandbox", "grant KEY"},
		{skills.Requires{Env: []string{"KEY"}}, skills.Place{Name: "this machine"}, "needs KEY in the environment of this machine", ""},
		{skills.Requires{Config: []string{"c"}}, at, "needs c in its agent's configuration", "name it in provides.config, if it is so"},
		{skills.Requires{Capabilities: []string{"c"}}, at, "needs the capability c", "name it in provides.capabilities, if it is so"},
		{skills.Requires{OS: []string{"windows"}, Bins: []string{"x"}, AnyBins: []string{"y"}}, at,
			`needs windows, and the sandbox is linux; needs x in image "default"; needs y in image "default"`, "set images.default to an image that has it"},
	} {
		reason, remedy := test.requires.Lacks(test.at)
		if reason != test.reason || remedy != test.remedy {
			t.Errorf("%s: %q (%q), want %q (%q)", test.requires, reason, remedy, test.reason, test.remedy)
		}
	}
}

func TestGated(t *testing.T) {
	const needy = "---\nname: a\ndescription: d\nscript: run.sh\nmetadata: {openclaw: {requires: {bins: [jq]}}}\n---\n"
	catalog, err := Scan(t.Context(), []Root{
		{Source: skills.SourceUser, Label: "user", FS: files(map[string]string{
			"a/SKILL.md": needy, "a/run.sh": "", "b/SKILL.md": skillText("b"),
			"gone/SKILL.md": "---\nname: gone\ndescription: d\nscript: gone.sh\nmetadata: {os: darwin}\n---\n",
		})},
		{Source: skills.SourceSystem, Label: "system", FS: files(map[string]string{"a/SKILL.md": skillText("a")})},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := lines(catalog.Problems)
	place := skills.Place{OS: "linux", Name: "the sandbox", Programs: `image "default"`, Has: only("bash"), Remedy: "get it"}
	gated := catalog.Gated(func(*skills.Skill) skills.Place { return place })
	a, err := gated.Lookup("a")
	if err != nil || a.Unavailable != `needs jq in image "default"` {
		t.Errorf("skill %+v, %v", a, err)
	}
	if got := gated.Shadowed[0].By; got != a {
		t.Errorf("the shadow is %p's, want %p's", got, a)
	}
	const want = "user/a/SKILL.md: warning: it is not available here: needs jq in image \"default\" (get it)\n" +
		"user/gone/SKILL.md:4: error: script gone.sh does not exist (create it or correct the path)\n"
	if diff := cmp.Diff(want, lines(gated.Problems)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "gone"}, names(gated)); diff != "" {
		t.Error(diff)
	}
	// What was published before stays as it is.
	if first, err := catalog.Lookup("a"); err != nil || first.Unavailable != "" || len(first.Problems) != 0 || lines(catalog.Problems) != before {
		t.Errorf("the first catalog has changed: %+v, %v", first, err)
	}
	place.Has = only("jq", "bash")
	if again := catalog.Gated(func(*skills.Skill) skills.Place { return place }); again != catalog {
		t.Error("a catalog without anything to change is another one")
	}
}
