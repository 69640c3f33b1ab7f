package scan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

// loadSandbox loads a skill whose field sandbox is text, in a host's eyes that
// know no host with a space.
func loadSandbox(t *testing.T, class, text string) *skills.Skill {
	t.Helper()
	fsys := files(map[string]string{
		"demo/SKILL.md": "---\nname: demo\ndescription: d\nscript: run.sh\nclass: " + class + "\nsandbox: " + text + "\n---\n",
		"demo/run.sh":   "echo",
	})
	catalog, err := Scan(t.Context(), []Root{{FS: fsys, Label: "root"}}, &Options{Host: func(host string) error {
		if strings.Contains(host, " ") {
			return errors.New(`"` + host + `" is not a host: write it without spaces`)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(catalog.Skills) != 1 {
		t.Fatalf("loaded %d skills: %v", len(catalog.Skills), catalog.Problems)
	}
	return catalog.Skills[0]
}

func TestSandbox(t *testing.T) {
	for text, want := range map[string]struct {
		network []string
		warm    int
	}{
		`{network: ["api.example.com:443", "*.example.org"], warm: 3}`: {[]string{"api.example.com:443", "*.example.org"}, 3},
		"\n  network:\n    - api.example.com\n    - 203.0.113.7:22":    {[]string{"api.example.com", "203.0.113.7:22"}, 0},
		"{network: api.example.com}":                                   {[]string{"api.example.com"}, 0},
		"{network: []}":                                                {nil, 0},
		"{network: }":                                                  {nil, 0},
		"{}":                                                           {nil, 0},
		"":                                                             {nil, 0},
		"{warm: false}":                                                {nil, -1},
		"{warm: no}":                                                   {nil, -1},
		"{warm: 0}":                                                    {nil, -1},
		"{warm: true}":                                                 {nil, 0},
		"{warm: 1}":                                                    {nil, 0},
		"{warm: 8}":                                                    {nil, 8},
	} {
		skill := loadSandbox(t, "mutating", text)
		if len(skill.Problems) > 0 {
			t.Errorf("%q: %v", text, skill.Problems)
		}
		if diff := cmp.Diff(want.network, skill.Entry.Network); diff != "" || skill.Entry.Warm != want.warm {
			t.Errorf("%q: warm %d, want %d; network %s", text, skill.Entry.Warm, want.warm, diff)
		}
	}
}

func TestSandboxProblems(t *testing.T) {
	for text, want := range map[string]string{
		"{network: [a, b c]}":                           `root/demo/SKILL.md:6: error: sandbox.network: "b c" is not a host: write it without spaces (write each host as name:port)`,
		"\n  network:\n  - a\n  - b c":                  `root/demo/SKILL.md:9: error: sandbox.network: "b c" is not a host: write it without spaces (write each host as name:port)`,
		"{network: {a: 443}}":                           `root/demo/SKILL.md:6: error: sandbox.network: there is something that is no host; list hosts such as api.example.com:443 (write each host as name:port)`,
		"{network: [~]}":                                `root/demo/SKILL.md:6: error: sandbox.network: there is something that is no host; list hosts such as api.example.com:443 (write each host as name:port)`,
		"{network: [" + strings.Repeat("a,", 65) + "]}": `root/demo/SKILL.md:6: error: sandbox.network: it has more than 64 hosts (write each host as name:port)`,
		"{warm: 9}":                                     `root/demo/SKILL.md:6: warning: in sandbox: "warm" is 9; 8 are had ready (write at most 8)`,
		"{warm: -1}":                                    `root/demo/SKILL.md:6: warning: in sandbox: "warm" is not a number from 0 to 8, or false and is ignored (write a number from 0 to 8, or false)`,
		"{warm: some}":                                  `root/demo/SKILL.md:6: warning: in sandbox: "warm" is not a number from 0 to 8, or false and is ignored (write a number from 0 to 8, or false)`,
		"{warm: [2]}":                                   `root/demo/SKILL.md:6: warning: in sandbox: "warm" is not a number from 0 to 8, or false and is ignored (write a number from 0 to 8, or false)`,
		"{netwrok: []}":                                 `root/demo/SKILL.md:6: warning: in sandbox: "netwrok" is not known and is ignored (use env, network and warm)`,
		"{env: [A-B]}":                                  `root/demo/SKILL.md:6: warning: in sandbox: "A-B" in "env" is not the name of a variable and is ignored (write names of variables)`,
		"true":                                          `root/demo/SKILL.md:6: warning: "sandbox" is not a map such as {network: [api.example.com:443]} and is ignored (write a map such as {network: [api.example.com:443]})`,
	} {
		skill := loadSandbox(t, "mutating", text)
		if got := strings.TrimSpace(lines(skill.Problems)); got != want {
			t.Errorf("%q:\n%s\nwant:\n%s", text, got, want)
		}
		if failed := strings.Contains(want, "error"); failed != (skill.Unavailable != "") {
			t.Errorf("%q: unavailable: %q", text, skill.Unavailable)
		}
	}
}

// A safe skill gets no network, and is told so before it is called.
func TestSandboxOfASafeSkill(t *testing.T) {
	skill := loadSandbox(t, "safe", "{network: [a]}")
	want := `root/demo/SKILL.md:6: warning: a safe skill that declares network counts as mutating: its calls are asked about (declare class: mutating)`
	if got := strings.TrimSpace(lines(skill.Problems)); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if skill.Unavailable != "" || len(skill.Entry.Network) != 1 {
		t.Errorf("unavailable %q, network %q", skill.Unavailable, skill.Entry.Network)
	}
}

func TestSandboxVariables(t *testing.T) {
	for text, want := range map[string]string{
		"{env: [API_TOKEN, _B2, API_TOKEN]}": "API_TOKEN _B2",
		"{env: A B}":                         "A B",
		"{env: }":                            "",
	} {
		skill := loadSandbox(t, "safe", text)
		if got := strings.Join(skill.Entry.Env, " "); got != want || len(skill.Problems) > 0 {
			t.Errorf("%q: %q, want %q; %v", text, got, want, skill.Problems)
		}
	}
	var many []string
	for i := range 70 {
		many = append(many, fmt.Sprintf("V%d", i))
	}
	skill := loadSandbox(t, "safe", "{env: ["+strings.Join(many, ", ")+"]}")
	if len(skill.Entry.Env) != limitVariables || len(skill.Problems) != 1 {
		t.Errorf("%d variables, %v", len(skill.Entry.Env), skill.Problems)
	}
}
