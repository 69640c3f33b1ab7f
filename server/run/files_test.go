package run_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// found returns the tool that a script of a skill which declares nothing becomes.
func found(t *testing.T, class, name, source string) *skills.Skill {
	t.Helper()
	files := fstest.MapFS{
		"demo/SKILL.md":        {Data: []byte("---\nname: demo\ndescription: d\nclass: " + class + "\n---\n")},
		"demo/" + name:         {Data: []byte(source)},
		"demo/assets/own.html": {Data: []byte("x")},
		"demo/both.txt":        {Data: []byte("x")},
	}
	catalog, err := scan.Scan(t.Context(), []scan.Root{{Source: skills.SourceExtra, FS: files, Label: "root"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, skill := range catalog.Skills {
		if skill.Of != nil {
			return skill
		}
	}
	t.Fatalf("there is no tool: %v", catalog.Problems)
	return nil
}

// Names of files among the arguments of scripts that declare nothing mean the
// workspace, the skill's folder, or /out; nothing else is changed.
func TestFilesOfScripts(t *testing.T) {
	workspace := t.TempDir()
	for _, name := range []string{"in.txt", "src/main.go", "both.txt", "json", "web", "dist/x", "feature/x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(workspace, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(workspace, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(workspace, "link.txt")); err != nil {
		t.Fatal(err)
	}
	python := func(arguments, rest string) string {
		return "import argparse, os\nfrom pathlib import Path\np = argparse.ArgumentParser()\n" + arguments + "\nargs = p.parse_args()\n" + rest + "\nif __name__ == '__main__':\n    pass\n"
	}
	const shell = "#!/bin/bash\nwhile [ $# -gt 0 ]; do\n  case \"$1\" in\n    --input-file) input=\"$2\"; shift 2;;\n    --output) output=\"$2\"; shift 2;;\n    *) exit 1;;\n  esac\ndone\n"
	for name, test := range map[string]struct {
		class, script, source, args, want string
	}{
		"an input by its type":         {"safe", "a.py", python("p.add_argument('data', type=Path)", ""), `{"data": "in.txt"}`, "W/in.txt"},
		"by what is opened":            {"safe", "a.py", python("p.add_argument('document')", "open(args.document)"), `{"document": "src/main.go"}`, "W/src/main.go"},
		"by its name":                  {"safe", "a.py", python("p.add_argument('--config-file')", ""), `{"config_file": "in.txt"}`, "--config-file=W/in.txt"},
		"by its help":                  {"safe", "a.py", python("p.add_argument('thing', help='Path to the thing')", ""), `{"thing": "in.txt"}`, "W/in.txt"},
		"several":                      {"safe", "a.py", python("p.add_argument('files', nargs='+')", ""), `{"files": ["in.txt", "gone.txt", "both.txt", "/abs"]}`, "W/in.txt gone.txt W/both.txt /abs"},
		"one of the skill":             {"safe", "a.py", python("p.add_argument('--template', type=Path)", ""), `{"template": "assets/own.html"}`, "--template=assets/own.html"},
		"the folder itself":            {"safe", "a.py", python("p.add_argument('path')", ""), `{"path": "."}`, "W"},
		"a default folder":             {"safe", "a.py", python("p.add_argument('--root', type=Path, default=Path.cwd())", ""), `{}`, "--root=W"},
		"a default of the skill":       {"safe", "a.py", python("p.add_argument('--template', type=Path, default='assets/own.html')", ""), `{}`, ""},
		"a default in the workspace":   {"safe", "a.py", python("p.add_argument('--path', default='in.txt')", ""), `{}`, "--path=W/in.txt"},
		"through a link":               {"safe", "a.py", python("p.add_argument('path')", ""), `{"path": "link.txt"}`, "link.txt"},
		"what leads out":               {"safe", "a.py", python("p.add_argument('path')", ""), `{"path": "../x"}`, "../x"},
		"an output":                    {"safe", "a.py", python("p.add_argument('--output', '-o', help='Output file')", ""), `{"output": "report.md"}`, "--output=/out/report.md"},
		"an output without help":       {"safe", "a.py", python("p.add_argument('--output')", ""), `{"output": "a/report.md"}`, "--output=/out/a/report.md"},
		"an output by its type":        {"safe", "a.py", python("p.add_argument('report', type=argparse.FileType('w'))", ""), `{"report": "r"}`, "/out/r"},
		"an output by what is written": {"safe", "a.py", python("p.add_argument('report')", "with open(args.report, 'w') as f: pass"), `{"report": "r"}`, "/out/r"},
		"an output that is there":      {"safe", "a.py", python("p.add_argument('--out-dir')", ""), `{"out_dir": "src"}`, "--out-dir=/out/src"},
		"a default output":             {"safe", "a.py", python("p.add_argument('--output', default='report.md', help='Where to write the report file')", ""), `{}`, "--output=/out/report.md"},
		"a default output as a path":   {"safe", "a.py", python("p.add_argument('--output', type=Path, default=Path('out/r.md'))", ""), `{}`, "--output=/out/out/r.md"},
		"a default output in a folder": {"safe", "a.py", python("DIR = Path('out')\np.add_argument('--output', default=str(DIR / 'r.md'))", ""), `{}`, "--output=/out/out/r.md"},
		"no output file":               {"safe", "a.py", python("p.add_argument('--output', default='text', help='Output format')", ""), `{"output": "json"}`, "--output=json"},
		"a report that is not there":   {"safe", "a.py", python("p.add_argument('--report', type=Path)", ""), `{"report": "r.json"}`, "--report=/out/r.json"},
		"a report that is there":       {"safe", "a.py", python("p.add_argument('--report', type=Path)", ""), `{"report": "in.txt"}`, "--report=W/in.txt"},
		"a report of the skill":        {"safe", "a.py", python("p.add_argument('--report', type=Path)", ""), `{"report": "assets/own.html"}`, "--report=assets/own.html"},
		"a default that is a folder":   {"safe", "a.py", python("p.add_argument('--vault', default='.')", ""), `{}`, "--vault=W"},
		"help that goes on":            {"safe", "a.py", python("p.add_argument('-f', metavar='NAME', help='The formatter to use. If it is not given, it is guessed from the file that the output is written to.')", ""), `{"f": "json"}`, "-f=json"},
		"the format of a file":         {"safe", "a.py", python("p.add_argument('--output', help='Output file format')", ""), `{"output": "json"}`, "--output=json"},
		"choices":                      {"safe", "a.py", python("p.add_argument('--output', choices=['json', 'web'])", ""), `{"output": "json"}`, "--output=json"},
		"a format":                     {"safe", "a.py", python("p.add_argument('--file-format')\np.add_argument('--output-format')", ""), `{"file_format": "json", "output_format": "web"}`, "--file-format=json --output-format=web"},
		"standard output":              {"safe", "a.py", python("p.add_argument('--output-file', default='-')", ""), `{"output_file": "-"}`, "--output-file=-"},
		"an address":                   {"safe", "a.py", python("p.add_argument('--input-file')\np.add_argument('--output-file')", ""), `{"input_file": "https://example.com/in.txt", "output_file": "s3://b/k"}`, "--input-file=https://example.com/in.txt --output-file=s3://b/k"},
		"no name of a file":            {"safe", "a.py", python("p.add_argument('--title', help='Title of the file')\np.add_argument('--query')\np.add_argument('--source')", ""), `{"title": "in.txt", "query": "in.txt", "source": "web"}`, "--title=in.txt --query=in.txt --source=web"},
		"of another command":           {"safe", "a.py", python("s = p.add_subparsers(dest='cmd', required=True)\na = s.add_parser('a')\na.add_argument('--output', default='x.md')\nb = s.add_parser('b')\nb.add_argument('--path')", ""), `{"cmd": "b", "path": "in.txt"}`, "b --path=W/in.txt"},
		"a sign that is a dot":         {"safe", "a.py", python("p.add_argument('--sep', default='.')\np.add_argument('--decimal', default='.', help='Decimal mark')", ""), `{"decimal": "."}`, "--decimal=."},
		"a prefix":                     {"safe", "a.py", python("p.add_argument('--branch-prefix', default='feature/')\np.add_argument('--prefix', default='dist/')", ""), `{}`, ""},
		"what is left out":             {"safe", "a.py", python("p.add_argument('--exclude', default='dist/', help='Paths to exclude')\np.add_argument('--ignore-dirs', nargs='*')\np.add_argument('--include', help='Files to include')", ""), `{"ignore_dirs": ["src"], "include": "src/main.go"}`, "--ignore-dirs=src --include=src/main.go"},
		"a file of what is left out":   {"safe", "a.py", python("p.add_argument('--ignore-file')", ""), `{"ignore_file": "in.txt"}`, "--ignore-file=W/in.txt"},
		"an output that is no file":    {"safe", "a.py", python("p.add_argument('--dest-branch')\np.add_argument('--dest-table')\np.add_argument('--output-mime')\np.add_argument('--output-unit')\np.add_argument('--export-repo', help='GitHub repository')", ""), `{"dest_branch": "feature/y", "dest_table": "db.users", "output_mime": "text/html", "output_unit": "km/h", "export_repo": "a/b"}`, "--dest-branch=feature/y --dest-table=db.users --output-mime=text/html --output-unit=km/h --export-repo=a/b"},
		"an output of a kind":          {"safe", "a.py", python("p.add_argument('--output-json')\np.add_argument('--save-to')\np.add_argument('--dest-branch-file')", ""), `{"output_json": "a.json", "save_to": "b.md", "dest_branch_file": "c"}`, "--output-json=/out/a.json --save-to=/out/b.md --dest-branch-file=/out/c"},
		"a place on another machine":   {"safe", "a.py", python("p.add_argument('--dest')", ""), `{"dest": "user@host:www/x"}`, "--dest=user@host:www/x"},
		"a type of files":              {"safe", "a.py", python("p.add_argument('--output', default='json', help='Output file type: json or csv')", ""), `{}`, ""},
		"a file to export":             {"safe", "a.py", python("p.add_argument('file', help='Markdown file to convert and save as PDF')\np.add_argument('--doc-file', help='File to export')", ""), `{"file": "in.txt", "doc_file": "both.txt"}`, "--doc-file=W/both.txt W/in.txt"},
		"paths that are no files":      {"safe", "a.py", python("p.add_argument('--api-path')\np.add_argument('--output-path', help='Dotted path of the value to output')", ""), `{"api_path": "src/main.go", "output_path": "a.b"}`, "--api-path=src/main.go --output-path=a.b"},
		"text of files":                {"safe", "a.py", python("p.add_argument('--message', help='Message for the changed file')\np.add_argument('--ref', help='Git ref to read files from')", ""), `{"message": "in.txt", "ref": "feature/x"}`, "--message=in.txt --ref=feature/x"},
		"a slash at the end":           {"safe", "a.py", python("p.add_argument('--input-dir')\np.add_argument('--output-dir', default='site/')", ""), `{"input_dir": "src/"}`, "--input-dir=W/src/ --output-dir=/out/site/"},
		"out of a writable workspace":  {"mutating", "a.py", python("p.add_argument('--output')", ""), `{"output": "../../x.txt"}`, "--output=../../x.txt"},
		"a writable workspace":         {"mutating", "a.py", python("p.add_argument('path')\np.add_argument('--output', default='r.md')", ""), `{"path": "in.txt"}`, "--output=W/r.md W/in.txt"},
		"a shell script":               {"safe", "run.sh", shell, `{"input_file": "in.txt", "output": "r.md"}`, "--input-file W/in.txt --output /out/r.md"},
	} {
		t.Run(name, func(t *testing.T) {
			driver := &recorder{}
			x := newExecutor(t, driver, &run.Options{Workspaces: []string{workspace}})
			if _, err := x.Run(t.Context(), run.Request{Skill: found(t, test.class, test.script, test.source), Args: decode(t, test.args), Call: person()}); err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.Join(driver.commands[0].Argv[2:], " "), workspace, "W")
			if got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// Without a workspace, output comes into /out all the same.
func TestFilesWithoutWorkspace(t *testing.T) {
	driver := &recorder{}
	skill := found(t, "safe", "a.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('path')\np.add_argument('--output', default='r.md')\np.parse_args()\nif __name__ == '__main__':\n    pass\n")
	if _, err := newExecutor(t, driver, nil).Run(t.Context(), run.Request{Skill: skill, Args: map[string]any{"path": "in.txt"}}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(driver.commands[0].Argv[2:], " "); got != "--output=/out/r.md in.txt" {
		t.Error(got)
	}
}

// A script that fails with a file that it did not find, or could not write, is told
// where files are.
func TestHintOfFiles(t *testing.T) {
	const inSkill, inWorkspace = "it runs in its own folder, /skill", "whole path, /work/NAME or /workspace/NAME"
	for said, want := range map[string]string{
		"[Errno 2] No such file or directory: 'in.txt'":  inWorkspace,
		"Error: file not found: in.txt":                  inWorkspace,
		"ENOENT, open 'in.txt'":                          inWorkspace,
		"The path in.txt does not exist":                 inWorkspace,
		"OSError: [Errno 30] Read-only file system: 'x'": "a path in /out",
		"it broke":           "",
		"user ann not found": "",
	} {
		driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
			cmd.Started()
			_, _ = cmd.Stderr.Write([]byte(said))
			return &sandbox.Exit{Code: 1}, nil
		}}
		outcome, err := newExecutor(t, driver, &run.Options{Workspaces: []string{"/work"}}).Run(t.Context(), run.Request{Skill: demo(t, "script: run.sh")})
		if err != nil || (outcome.Hint == "") != (want == "") || !strings.Contains(outcome.Hint, want) {
			t.Errorf("%s: %q, %v", said, outcome.Hint, err)
		}
		if strings.Contains(want, inWorkspace) && !strings.Contains(outcome.Hint, inSkill) {
			t.Errorf("%s: %q", said, outcome.Hint)
		}
	}
}
