package requirements

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// images is a driver with an image, and its programs, for each role.
type images struct {
	ids      map[string]string // by role
	programs map[string]string // by image: the output of the listing
	code     int
	runs     int
}

func (i *images) Identify(_ context.Context, role string) (sandbox.Base, error) {
	id, ok := i.ids[role]
	if !ok {
		return sandbox.Base{}, errors.New("it is not there yet")
	}
	if role == "" {
		role = "default"
	}
	return sandbox.Base{ID: id, Name: fmt.Sprintf("image %q", role), Remedy: "use another one"}, nil
}

func (i *images) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	i.runs++
	if entries, err := os.ReadDir(cmd.Folder); err != nil || len(entries) > 0 || len(cmd.Grant.Workspaces) > 0 {
		return nil, fmt.Errorf("it sees too much: %v, %v", entries, err)
	}
	cmd.Started()
	_, err := io.WriteString(cmd.Stdout, i.programs[i.ids[cmd.Role]])
	return &sandbox.Exit{Code: i.code}, err
}

func (i *images) Close() error { return nil }

func runner(t *testing.T, driver sandbox.Driver) *sandbox.Runner {
	t.Helper()
	r := sandbox.New(driver, nil)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// catalog has a skill for each list of fields, called s0, s1, …
func catalog(t *testing.T, all ...string) *skills.Catalog {
	t.Helper()
	fsys := fstest.MapFS{}
	for i, fields := range all {
		dir := fmt.Sprintf("s%d/", i)
		fsys[dir+"SKILL.md"] = &fstest.MapFile{Data: []byte(fmt.Sprintf("---\nname: s%d\ndescription: d\n%s\n---\n", i, fields))}
		fsys[dir+"run.sh"] = &fstest.MapFile{}
	}
	c, err := scan.Scan(t.Context(), []scan.Root{{FS: fsys, Label: "root"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func reasons(c *skills.Catalog) []string {
	var all []string
	for _, s := range c.Skills {
		all = append(all, s.Unavailable)
	}
	return all
}

const (
	needsJQ  = "script: run.sh\nmetadata: {openclaw: {requires: {bins: [jq]}}}"
	needsNPM = "script: run.sh\nsandbox_image_role: node\nmetadata: {openclaw: {requires: {bins: [npm]}}}"
)

// A skill is available before its sandbox is inspected, and as the inventory says after.
func TestInspect(t *testing.T) {
	driver := &images{ids: map[string]string{"": "one"}, programs: map[string]string{"one": "sh\nbash\n", "two": "bash\njq\n"}}
	r, g, c := runner(t, driver), New(nil), catalog(t, needsJQ, needsNPM, "script: run.sh")
	roles := Wants(c.Skills...)
	if !slices.Equal(roles, []string{"", "node"}) {
		t.Fatalf("roles %q", roles)
	}
	if got := reasons(g.Apply(c)); strings.Join(got, "") != "" {
		t.Errorf("before: %q", got)
	}
	changed, err := g.Inspect(t.Context(), r, roles)
	if !changed || err == nil || !strings.Contains(err.Error(), "not there yet") {
		t.Errorf("changed %t, error %v", changed, err)
	}
	if got, want := reasons(g.Apply(c)), []string{`needs jq in image "default"`, "", ""}; !slices.Equal(got, want) {
		t.Errorf("learned: %q, want %q", got, want)
	}
	if changed, err := g.Inspect(t.Context(), r, []string{""}); changed || err != nil || driver.runs != 1 {
		t.Errorf("again: changed %t, error %v, %d runs", changed, err, driver.runs)
	}
	driver.ids[""] = "two" // another image for the role
	if changed, err := g.Inspect(t.Context(), r, []string{""}); !changed || err != nil || driver.runs != 2 {
		t.Errorf("another image: changed %t, error %v, %d runs", changed, err, driver.runs)
	}
	if got := reasons(g.Apply(c)); strings.Join(got, "") != "" {
		t.Errorf("another image: %q", got)
	}
}

// The programs of an image are listed once, for all checkers of a folder.
func TestCachedPrograms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "programs")
	driver := &images{ids: map[string]string{"": "one"}, programs: map[string]string{"one": "sh\nbash\n"}}
	r, c := runner(t, driver), catalog(t, needsJQ)
	for range 2 {
		g := New(&Options{Dir: dir})
		if changed, err := g.Inspect(t.Context(), r, []string{""}); !changed || err != nil {
			t.Fatalf("changed %t, error %v", changed, err)
		}
		if got := reasons(g.Apply(c)); got[0] != `needs jq in image "default"` {
			t.Errorf("reasons %q", got)
		}
	}
	if driver.runs != 1 {
		t.Errorf("%d runs", driver.runs)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("files %v, %v", entries, err)
	}
	for _, broken := range []string{"", "{", "[]", `{"a": 1}`, "[" + strings.Repeat(" ", maxCached) + `"jq"]`} {
		if err := os.WriteFile(filepath.Join(dir, entries[0].Name()), []byte(broken), 0o644); err != nil {
			t.Fatal(err)
		}
		before := driver.runs
		if _, err := New(&Options{Dir: dir}).Inspect(t.Context(), r, []string{""}); err != nil || driver.runs != before+1 {
			t.Errorf("%.20q: %d runs, %v", broken, driver.runs-before, err)
		}
	}
}

// A skill stays available if its image cannot be inspected.
func TestNotInspected(t *testing.T) {
	for name, driver := range map[string]sandbox.Driver{
		"no shell":         &images{ids: map[string]string{"": "one"}, code: 127},
		"nothing printed":  &images{ids: map[string]string{"": "one"}},
		"too much printed": &images{ids: map[string]string{"": "one"}, programs: map[string]string{"one": numbered(maxPrograms + 1)}},
		"does not say":     struct{ sandbox.Driver }{&images{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(nil)
			if changed, err := g.Inspect(t.Context(), runner(t, driver), []string{""}); changed || err == nil {
				t.Errorf("changed %t, error %v", changed, err)
			}
			if got := reasons(g.Apply(catalog(t, needsJQ))); got[0] != "" {
				t.Errorf("reasons %q", got)
			}
		})
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// Scripts run in the sandbox, and instructions are followed on this machine.
func TestWhere(t *testing.T) {
	asked := 0
	g := New(&Options{
		Env:     func(name string) bool { return name == "GRANTED" },
		HostEnv: func(name string) bool { return name == "HOST" },
		HostHas: func(name string) bool { asked++; return name == "gh" },
		Config:  []string{"channels.chat"}, Capabilities: []string{"network"},
	})
	c := catalog(t,
		"script: run.sh\nmetadata: {os: [plan9]}",
		"script: run.sh\nmetadata: {os: [linux], requires: {env: [GRANTED, SKILL_PARAMS, HOME]}}",
		"script: run.sh\nmetadata: {requires: {env: [HOST]}}",
		"metadata: {requires: {env: [HOST], bins: [gh], config: [channels.chat]}}\nrequired_capabilities: network",
		"metadata: {requires: {env: [GRANTED], bins: [jq, gh]}}",
		"metadata: {requires: {config: [other], bins: [gh]}}\nrequired_capabilities: [fly]",
	)
	want := []string{
		"needs plan9, and the sandbox is linux", "", "needs HOST in the environment of the sandbox", "",
		"needs jq in this machine's PATH; needs GRANTED in the environment of this machine",
		"needs other in its agent's configuration; needs the capability fly",
	}
	if got := reasons(g.Apply(c)); !slices.Equal(got, want) {
		t.Errorf("reasons:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if asked != 2 {
		t.Errorf("%d programs were looked for", asked)
	}
	if none := (*Checker)(nil).Apply(c); none != c {
		t.Error("no gate changes a catalog")
	}
}

// TestVariables counts variables granted to a skill's tools for its instructions,
// which speak of the tools. A remedy names the setting, where there is one.
func TestVariables(t *testing.T) {
	g := New(&Options{
		Env: func(name string) bool { return name == "GRANTED" }, HostEnv: func(name string) bool { return name == "HOST" },
		Granted: func(skill *skills.Skill, name string) bool {
			return skill.QualifiedName() == "secret__go" && name == "API_KEY"
		},
	})
	const needs = "---\ndescription: d\nmetadata: {requires: {env: [%s]}}\n---\nRead.\n"
	const grant, export = "set sandbox: {env: [A, B]} in the configuration, each with =VALUE or for the value that the server has", "set A, B in the environment that the server is started with, such as env of its entry in the client's configuration"
	const secret = "for a secret, skills-mcp secret set NAME and then skills-mcp secret grant SKILL NAME --host HOST; else "
	fsys := fstest.MapFS{}
	for folder, names := range map[string]string{"granted": "GRANTED", "host": "HOST", "missing": "A, GRANTED, B", "alone": "A, HOST, B", "other": "GRANTED", "secret": "API_KEY", "wants": "API_KEY"} {
		fsys[folder+"/SKILL.md"] = &fstest.MapFile{Data: []byte(fmt.Sprintf(needs, names))}
		if folder != "alone" && folder != "other" {
			fsys[folder+"/go.sh"] = &fstest.MapFile{Data: []byte("#!/bin/sh\necho\n")}
		}
	}
	c, err := scan.Scan(t.Context(), []scan.Root{{FS: fsys, Label: "root"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range g.Apply(c).Skills {
		if got[s.QualifiedName()] = s.Unavailable; s.Unavailable != "" {
			got[s.QualifiedName()] += ": " + s.Problems[len(s.Problems)-1].Remedy
		}
	}
	want := map[string]string{
		"secret": "", "secret__go": "",
		"wants":     "needs API_KEY in the environment of this machine: " + secret + strings.Replace(grant, "A, B", "API_KEY", 1),
		"wants__go": "needs API_KEY in the environment of the sandbox: " + secret + strings.Replace(grant, "A, B", "API_KEY", 1),
		"granted":   "", "granted__go": "", "host": "", "host__go": "needs HOST in the environment of the sandbox: " + strings.Replace(grant, "A, B", "HOST", 1),
		"missing": "needs A and B in the environment of this machine: " + grant, "missing__go": "needs A and B in the environment of the sandbox: " + grant,
		"alone": "needs A and B in the environment of this machine: " + export, "other": "needs GRANTED in the environment of this machine: " + strings.Replace(export, "A, B", "GRANTED", 1),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A role counts for programs that not every image has.
func TestWants(t *testing.T) {
	for fields, want := range map[string][]string{
		"script: run.sh": nil,
		"script: run.sh\nmetadata: {requires: {bins: [python3, sh]}}":                 nil,
		"script: run.sh\nmetadata: {requires: {anyBins: [sh]}}":                       {""},
		"metadata: {requires: {bins: [jq]}}":                                          nil,
		"script: run.sh\nsandbox_image_role: gpu\nmetadata: {requires: {bins: [jq]}}": {"gpu"},
	} {
		if got := Wants(catalog(t, fields).Skills...); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", fields, got, want)
		}
	}
}
