package consent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// renameSkill writes a skill that adds a line to the file notes, with files of every sort
// that a script may execute.
func renameSkill(t *testing.T, dir, class string) {
	t.Helper()
	for name, content := range map[string]string{
		"SKILL.md":                "---\nname: " + filepath.Base(dir) + "\ndescription: Writes a note.\nclass: " + class + "\nscript: run.sh\nparams: {text: string}\n---\nRun it.\n",
		"run.sh":                  ". ./lib/sourced.sh\n",
		"other.sh":                "echo other\n",
		"lib/sourced.sh":          "echo \"$*\" >> \"$SKILL_WORKSPACE/notes\"; echo done\n",
		"lib/helper.py":           "def help(): pass\n",
		"lib/native.so":           "\x7fELF\x02",
		"lib/__pycache__/h.pyc":   "\x00\x01",
		"node_modules/x/index.js": "module.exports = 1\n",
		"package.json":            `{"scripts": {"build": "true"}}`,
		"commands.json":           `["true"]`,
		"Makefile":                "all:\n\ttrue\n",
		"requirements.txt":        "six==1.0\n",
		"template.md":             "Nothing.\n",
		"README.md":               "Nothing.\n",
		".envrc":                  "export A=1\n",
	} {
		lab.WriteFile(t, filepath.Join(dir, name), content)
	}
	if err := os.Symlink("sourced.sh", filepath.Join(dir, "lib", "link.sh")); err != nil {
		t.Fatal(err)
	}
}

// fileChanges are changes of a skill's files by which it gains no capability.
func fileChanges() map[string]func(dir string) error {
	all := map[string]func(dir string) error{
		"mode": func(dir string) error { return os.Chmod(filepath.Join(dir, "other.sh"), 0o755) },
		"new":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "sitecustomize.py"), nil, 0o644) },
		"gone": func(dir string) error { return os.Remove(filepath.Join(dir, "commands.json")) },
		"rename": func(dir string) error {
			return os.Rename(filepath.Join(dir, "Makefile"), filepath.Join(dir, "makefile"))
		},
		"link": func(dir string) error {
			link := filepath.Join(dir, "lib", "link.sh")
			if err := os.Remove(link); err != nil {
				return err
			}
			return os.Symlink("../other.sh", link)
		},
		"swapped": func(dir string) error {
			name := filepath.Join(dir, "SKILL.md")
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return os.WriteFile(name, []byte(strings.Replace(string(text), "run.sh", "other.sh", 1)), 0o644)
		},
	}
	for _, name := range []string{
		"SKILL.md", "run.sh", "lib/sourced.sh", "lib/helper.py", "lib/native.so", "lib/__pycache__/h.pyc", "node_modules/x/index.js",
		"package.json", "commands.json", "Makefile", "requirements.txt", "template.md", "README.md", ".envrc",
	} {
		all[name] = func(dir string) error {
			file, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = file.WriteString("\n")
			return err
		}
	}
	return all
}

// A yes to all calls of a stranger's skill that may write, or reach a host, ends with each
// change of a file, whatever sort it is of, and holds again for the files that it was given
// for. That of a skill which gets neither, and that of the person's own, goes on.
func TestAlwaysEndsWithFiles(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		plugins := filepath.Join(a.Home, "plugins")
		a.Configure("plugins: [\"" + plugins + "\"]\npolicy: {skills: {office/hosts: {workspace: ro, network: [example.com:443]}, office/none: {class: mutating, workspace: ro}}}\n")
		lab.WriteFile(t, filepath.Join(plugins, "office/.claude-plugin/plugin.json"), `{"name": "office", "version": "1.0.0"}`)
		source := filepath.Join(a.Home, "download", "installed")
		renameSkill(t, source, "mutating")
		if screen, code := a.Terminal("yes", "install", source); code != 0 {
			t.Fatalf("install: exit %d\n%s", code, screen)
		}
		places := map[string]string{
			"installed":   a.Found("installed"),
			"cloned":      filepath.Join(a.Workspace, ".claude", "skills", "cloned"),
			"office/rent": filepath.Join(plugins, "office", "skills", "rent"), "office/hosts": filepath.Join(plugins, "office", "skills", "hosts"), "office/none": filepath.Join(plugins, "office", "skills", "none"),
			"own": filepath.Join(a.Skills, "own"),
		}
		for name, dir := range places {
			if name != "installed" {
				renameSkill(t, dir, "mutating")
			}
		}
		if screen, code := a.Terminal("yes", "trust", a.Workspace); code != 0 {
			t.Fatalf("trust: exit %d\n%s", code, screen)
		}
		c := a.Serve("legacy", `{}`)
		for name, dir := range places {
			goesOn := name == "own" || name == "office/none"
			run := func() lab.Reply {
				return c.Call("run_skill", map[string]any{"name": name, "params": lab.Text(name)})
			}
			a.ApproveAs(c.Waits(run()), "always")
			run()
			kept := filepath.Join(t.TempDir(), "kept")
			copyTree(t, dir, kept)
			for change, apply := range fileChanges() {
				if goesOn && !slices.Contains([]string{"run.sh", "lib/helper.py", "commands.json", "README.md", "new"}, change) {
					continue // it gains something, such as a program that cannot be read
				}
				if err := apply(dir); err != nil {
					t.Fatal(err)
				}
				c.Call("reload_skills", map[string]any{})
				answer := run()
				switch asked := strings.Contains(answer.Text(), "APPROVAL_REQUIRED"); {
				case asked && goesOn:
					t.Errorf("%s: %s asks: %s", name, change, answer.Text())
				case !asked && !goesOn:
					t.Errorf("%s: %s runs unasked: %s", name, change, answer.Text())
				case asked:
					a.Deny(c.Waits(answer))
				}
				// All at once: of files that come one by one the server may see the first
				// ones alone, which do less, and those are what it compares with then.
				aside := t.TempDir()
				copyTree(t, kept, filepath.Join(aside, "back"))
				if err := errors.Join(os.Rename(dir, filepath.Join(aside, "changed")), os.Rename(filepath.Join(aside, "back"), dir)); err != nil {
					t.Fatal(err)
				}
				c.Call("reload_skills", map[string]any{})
			}
			if after := run().Text(); !strings.Contains(after, "done") && name != "office/hosts" && name != "office/none" { // which may not write
				t.Errorf("%s: the files that were confirmed: %s", name, after)
			}
		}
		out, _ := a.Run("approvals", "--all", "--json")
		for _, file := range []string{"run.sh", "lib/link.sh", "lib/native.so", "sitecustomize.py", "Makefile"} {
			if !strings.Contains(out, "changed files are "+file) {
				t.Errorf("no question names the changed file %s", file)
			}
		}
	})
}

// copyTree copies a folder with its modes and links.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, _ := filepath.Rel(from, path)
		target := filepath.Join(to, below)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A person who is asked answers for the kind of call that they mean: 30 calls of 10 skills
// ask them five times.
func TestThirtyCalls(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	plugins := filepath.Join(a.Home, "plugins")
	a.Configure("plugins: [\"" + plugins + "\"]\n")
	lab.WriteFile(t, filepath.Join(plugins, "office/.claude-plugin/plugin.json"), `{"name": "office", "version": "1.0.0"}`)
	skill := func(dir, more string) {
		name := filepath.Base(dir)
		lab.WriteFile(t, filepath.Join(dir, "SKILL.md"), "---\nname: "+name+"\ndescription: Does it.\nclass: mutating\nscript: run.sh\n"+more+"\n---\n")
		lab.WriteFile(t, filepath.Join(dir, "run.sh"), "echo \""+name+"\" >> \"$SKILL_WORKSPACE/notes\" && echo done\n")
	}
	var office []string
	for _, name := range []string{"docx", "xlsx", "pptx", "pdf", "letter", "invoice"} {
		skill(filepath.Join(plugins, "office", "skills", name), "params: {title: string}")
		office = append(office, "office/"+name)
	}
	paths := "params: {dir: {type: string, format: path}, pattern: string}"
	skill(filepath.Join(a.Skills, "rename-files"), paths)
	skill(filepath.Join(a.Workspace, ".claude", "skills", "resize"), paths)
	skill(filepath.Join(a.Skills, "journal"), "params: {text: string}")
	skill(filepath.Join(a.Skills, "publish"), "params: {to: string}")
	if screen, code := a.Terminal("yes", "trust", a.Workspace); code != 0 {
		t.Fatalf("trust: exit %d\n%s", code, screen)
	}
	type call struct {
		skill  string
		params map[string]any
	}
	var calls []call
	for i := range 2 {
		for _, name := range office {
			calls = append(calls, call{name, map[string]any{"title": fmt.Sprint(name, i)}})
		}
	}
	for i, dir := range []string{"data", "data/1", "data/2/a.csv", "data/2/../new", "./data/0", "data/"} {
		calls = append(calls, call{"rename-files", map[string]any{"dir": dir, "pattern": "*.csv"}})
		calls = append(calls, call{"resize", map[string]any{"dir": filepath.Join(a.Workspace, "pictures", fmt.Sprint(i)), "pattern": "*.png"}})
	}
	for i := range 4 {
		calls = append(calls, call{"journal", lab.Text(fmt.Sprint("entry ", i))})
	}
	for range 2 {
		calls = append(calls, call{"publish", map[string]any{"to": "staging"}})
	}
	if err := os.MkdirAll(filepath.Join(a.Workspace, "data", "0"), 0o777); err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{"office/docx": "plugin", "rename-files": "below", "resize": "below", "journal": "always", "publish": "same"}
	rules := map[string]string{
		"office/docx":  `From now on runs without asking: each of the 6 skills of the plugin office, with any arguments, unless it is dangerous or gets more than this, writing to`,
		"rename-files": `From now on runs without asking: rename-files with any paths below ` + filepath.Join(a.Workspace, "data") + ` as dir and its other arguments as here, writing to`,
		"resize":       `resize with any paths below ` + filepath.Join(a.Workspace, "pictures") + ` as dir`,
		"journal":      `journal with any arguments`,
		"publish":      `publish with exactly these arguments`,
	}
	if len(calls) != 30 {
		t.Fatalf("%d calls", len(calls))
	}
	if err := os.Mkdir(filepath.Join(a.Workspace, "pictures"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(a.Workspace, "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	c := a.Serve("legacy", `{}`)
	asked := map[string]int{}
	for _, next := range calls {
		request := map[string]any{"name": next.skill, "params": next.params}
		answer := c.Call("run_skill", request)
		if strings.Contains(answer.Text(), "APPROVAL_REQUIRED") {
			asked[next.skill]++
			screen := a.ApproveAs(c.Waits(answer), answers[next.skill])
			if joined := strings.Join(strings.Fields(strings.ReplaceAll(screen, "\n> ", "")), " "); !strings.Contains(joined, rules[next.skill]) {
				t.Errorf("%s: the rule is not shown: %s", next.skill, joined)
			}
			answer = c.Call("run_skill", request)
		}
		c.Succeeds(answer, "done")
	}
	if len(asked) != 5 || asked["rename-files"]+asked["resize"]+asked["office/docx"]+asked["journal"]+asked["publish"] != 5 {
		t.Errorf("asked %v", asked)
	}
	a.Wrote(30)

	// What the person did not mean is asked about: other arguments, folders and skills.
	if err := os.Symlink(a.Workspace, filepath.Join(a.Workspace, "data", "up")); err != nil {
		t.Fatal(err)
	}
	for _, next := range []call{
		{"publish", map[string]any{"to": "production"}},
		{"rename-files", map[string]any{"dir": "data/../other", "pattern": "*.csv"}},
		{"rename-files", map[string]any{"dir": "data/up/other", "pattern": "*.csv"}},
		{"rename-files", map[string]any{"dir": "data/1", "pattern": "*"}},
		{"note", lab.Text("x")},
	} {
		c.Waits(c.Call("run_skill", map[string]any{"name": next.skill, "params": next.params}))
	}
	lab.WriteFile(t, filepath.Join(plugins, "office", "skills", "pdf", "run.sh"), "echo other\n")
	c.Waits(c.Call("run_skill", map[string]any{"name": "office/pdf", "params": map[string]any{"title": "x"}}))
	c.Succeeds(c.Call("run_skill", map[string]any{"name": "office/xlsx", "params": map[string]any{"title": "x"}}), "done")

	out, _ := a.Run("approvals")
	for _, kind := range []string{`always for paths below ` + filepath.Join(a.Workspace, "data"), `always for all skills of the plugin office`, "always for these arguments"} {
		if !strings.Contains(out, kind) {
			t.Errorf("approvals does not list %q:\n%s", kind, out)
		}
	}
	if out, code := a.Run("revoke", "office"); code != 0 {
		t.Fatalf("revoke: exit %d\n%s", code, out)
	}
	c.Waits(c.Call("run_skill", map[string]any{"name": "office/xlsx", "params": map[string]any{"title": "x"}}))
}
