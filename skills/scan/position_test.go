package scan

import (
	"strings"
	"testing"
)

// Each problem of a key says in which column that key stands.
func TestPositions(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a key at the margin": {
			"---\nname: other\ndescription: d\n---\n",
			"2:1: warning: the name",
		},
		"a key further in": {
			"---\nname: demo\ndescription: d\nscript: run.sh\nparams:\n  when: date\n---\n",
			"6:3: warning: parameter \"when\"",
		},
		"the second key of a line": {
			"---\nname: demo\ndescription: d\nscript: run.sh\nparams: {where: string, when: date}\n---\n",
			"5:25: warning: parameter \"when\"",
		},
		"behind a character of several bytes": {
			"---\nname: demo\ndescription: d\nscript: run.sh\nparams: {where: {description: ‘é’}, when: date}\n---\n",
			"5:37: warning: parameter \"when\"",
		},
		"what costs the skill its place": {
			"---\nname: demo\ndescription: d\nscript: ../run.sh\n---\n",
			"4:1: error: script",
		},
		"a file that is no YAML has no keys": {
			"---\nname: demo\ndescription: [a, b\n---\n",
			"3: error: the frontmatter is not YAML",
		},
		"Windows line ends": {
			"\ufeff---\r\nname: other\r\ndescription: d\r\n---\r\n",
			"2:1: warning: the name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanFiles(t, map[string]string{"demo/SKILL.md": test.text, "demo/run.sh": ""})
			if len(catalog.Problems) != 1 {
				t.Fatalf("problems %v", catalog.Problems)
			}
			if got := catalog.Problems[0].String(); !strings.HasPrefix(got, "root/demo/SKILL.md:"+test.want) {
				t.Errorf("%s; want %s", got, test.want)
			}
		})
	}
}

// Each file has columns of its own.
func TestPositionsOfOtherFiles(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"demo/SKILL.md":   "---\ndescription: d\n\n\n  \nname: other\n---\n",
		"demo/tools.yaml": "tools:\n- name: a\n  script: run.sh\n\n  params:\n  - {name: x, type: date}\n",
		"demo/run.sh":     "",
	})
	want := []string{
		"root/demo/SKILL.md:6:1: warning: the name",
		"root/demo/tools.yaml:6:15: warning: parameter \"x\" has the unknown type",
	}
	for i, p := range catalog.Problems {
		if i >= len(want) || !strings.HasPrefix(p.String(), want[i]) {
			t.Errorf("problem %s", p)
		}
	}
	if len(catalog.Problems) != len(want) {
		t.Errorf("%d problems", len(catalog.Problems))
	}
}

func TestPositionsOfManifests(t *testing.T) {
	for manifest, want := range map[string]string{
		`{"name": "p", "version": []}`:                  "1:15",
		"{\"name\": \"p\",\n\t\"version\": {\"a\": 1}}": "2:2",
		`{"name": "é\u00e9\"", "version": []}`:          "1:23",
		"{\n\"name\": \"p\",\n}":                        "3:1",
		`{"name": "é" "version"}`:                       "1:14",
		``:                                              "1:1",
	} {
		catalog := scanFiles(t, map[string]string{"p/plugin.json": manifest, "p/skills/a/SKILL.md": skillText("a")}, func(r *Root) { r.Plugins = true })
		if len(catalog.Problems) != 1 || !strings.HasPrefix(catalog.Problems[0].String(), "root/p/plugin.json:"+want+": ") {
			t.Errorf("%s: problems %v; want one at %s", manifest, catalog.Problems, want)
		}
	}
}

func TestPositionsOfMarketplaces(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		".claude-plugin/marketplace.json": "{\"plugins\": [\n  {\"name\": \"p\", \"source\": \"./p\", \"version\": [1]}]}",
		"p/skills/a/SKILL.md":             skillText("a"),
	}, func(r *Root) { r.Plugins = true })
	if len(catalog.Problems) != 1 || !strings.HasPrefix(catalog.Problems[0].String(), "root/.claude-plugin/marketplace.json:2:34: ") {
		t.Errorf("problems %v", catalog.Problems)
	}
}
