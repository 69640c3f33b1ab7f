package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

func under(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// Production code imports nothing that is for tests.
func TestNoTestingInProduction(t *testing.T) {
	t.Parallel()
	for path, p := range lab.Packages(t) {
		if slices.Contains(p.Imports, "testing") && path != "sandbox/sandboxtest" && path != "skills/install/download/faulttest" && path != "integration/lab" && path != "integration/modelserver" {
			t.Errorf("%s imports testing outside of its tests", path)
		}
	}
}

// Only cmd reads the environment or ends the program; the native driver's init
// is a program of its own.
func TestEnvironmentAndExit(t *testing.T) {
	t.Parallel()
	calls := regexp.MustCompile(`\bos\.(Getenv|LookupEnv|Environ|Exit)\(`)
	for path, p := range lab.Packages(t) {
		if under(path, "cmd") || under(path, "integration") {
			continue
		}
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range calls.FindAllString(string(text), -1) {
				if under(path, "sandbox/native") && call == "os.Exit(" {
					continue
				}
				t.Errorf("%s/%s calls %s", path, name, strings.TrimSuffix(call, "("))
			}
		}
	}
}

func TestPackageDocs(t *testing.T) {
	t.Parallel()
	for path, p := range lab.Packages(t) {
		if p.Doc == "" {
			t.Errorf("%s has no package doc", path)
		}
	}
}

// No package does anything when it is imported, but for the native driver, whose
// init process must not wait for the packages of a whole server.
func TestNoInitFunctions(t *testing.T) {
	t.Parallel()
	allowed := map[string]int{"sandbox/native": 1}
	for path, p := range lab.Packages(t) {
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, declaration := range file.Decls {
				if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
					if allowed[path]--; allowed[path] < 0 {
						t.Errorf("%s/%s has an init function", path, name)
					}
				}
			}
		}
	}
}

// Few commands use any one table or regular expression of the program's: none is made
// when it starts. A package-level variable holds a [lazyregexp.Regexp] or a function of
// sync.OnceValue instead. Small maps are cheaper than either.
func TestNothingIsBuiltAtStart(t *testing.T) {
	t.Parallel()
	const smallMap = 32 // entries, of some 100 ns each
	for path, p := range lab.Packages(t) {
		if under(path, "integration") || path == "sandbox/sandboxtest" {
			continue
		}
		for _, name := range p.GoFiles {
			for _, value := range packageValues(t, filepath.Join(p.Dir, name)) {
				ast.Inspect(value, func(node ast.Node) bool {
					switch n := node.(type) {
					case *ast.FuncLit:
						return false // called later
					case *ast.CompositeLit:
						if _, isMap := n.Type.(*ast.MapType); isMap && len(n.Elts) > smallMap {
							t.Errorf("%s/%s makes a map of %d entries at start: use sync.OnceValue", path, name, len(n.Elts))
						}
					case *ast.CallExpr:
						if _, called := n.Fun.(*ast.FuncLit); called || slices.Contains(costly, types.ExprString(n.Fun)) {
							t.Errorf("%s/%s calls %s at start: use lazyregexp.New or sync.OnceValue", path, name, types.ExprString(n.Fun))
						}
					}
					return true
				})
			}
		}
	}
}

// costly are functions that take microseconds and more.
var costly = []string{"regexp.MustCompile", "regexp.MustCompilePOSIX", "template.Must", "crc32.MakeTable"}

// Lazy regular expressions are compiled here, as they no longer are at each start.
func TestLazyPatternsCompile(t *testing.T) {
	t.Parallel()
	count := 0
	for _, p := range lab.Packages(t) {
		for _, name := range p.GoFiles {
			for _, value := range packageValues(t, filepath.Join(p.Dir, name)) {
				ast.Inspect(value, func(node ast.Node) bool {
					call, ok := node.(*ast.CallExpr)
					if !ok || !slices.Contains([]string{"lazyregexp.New", "lazily", "regexp.MustCompile"}, types.ExprString(call.Fun)) {
						return true
					}
					count++
					literal, ok := call.Args[0].(*ast.BasicLit)
					if !ok {
						return true // its package's tests use it
					}
					if text, err := strconv.Unquote(literal.Value); err != nil {
						t.Error(err)
					} else if _, err := regexp.Compile(text); err != nil {
						t.Errorf("%s/%s: %v", p.Dir, name, err)
					}
					return true
				})
			}
		}
	}
	if count < 50 {
		t.Errorf("found %d patterns: the functions have other names", count)
	}
}

// packageValues returns the expressions that initialize the package-level variables of a
// file.
func packageValues(t *testing.T, name string) (values []ast.Expr) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		if vars, ok := declaration.(*ast.GenDecl); ok && vars.Tok == token.VAR {
			for _, spec := range vars.Specs {
				values = append(values, spec.(*ast.ValueSpec).Values...)
			}
		}
	}
	return values
}

func TestNoReplace(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)^\s*replace\b`).Match(text) {
		t.Error("go.mod has a replace directive: go install would not work")
	}
}

// The top level is fixed.
func TestTopLevel(t *testing.T) {
	t.Parallel()
	want := []string{
		".ci", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "cmd", "docs",
		"go.mod", "go.sum", "integration", "plugins", "sandbox", "server", "skills",
	}
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Skipf("SKIPPED: this is no git checkout: %v", err)
	}
	var got []string
	for _, name := range strings.Fields(string(out)) {
		got = append(got, strings.SplitN(name, "/", 2)[0])
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("top level:\n%v\nwant\n%v", got, want)
	}
}

// The README's commands are those that the tests and CI run.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	const sample = "go run ./cmd/skills-mcp run colony-samples/code-complexity --path . --top_n 1"
	for command, inCI := range map[string]string{sample: sample, "go test ./...": `go list ./... | grep -Ev "$alone" | xargs go test`} {
		if !strings.Contains(string(readme), command) {
			t.Errorf("the README does not have the command %q", command)
		}
		if !strings.Contains(string(ci), inCI) {
			t.Errorf("CI does not run the README's command %q", command)
		}
	}
}

// Who looks for a package finds it in docs/architecture.md.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	page := read(t, "../docs/architecture.md")
	for name := range lab.Packages(t) {
		if parent := path.Dir(name); parent == "cmd/skills-mcp" || parent == "integration" || strings.HasPrefix(parent, "integration/") {
			continue // named in the row of their parent
		}
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/architecture.md does not say what %s does", name)
		}
	}
}

// TestNeeds finds every requirement of the tests in CONTRIBUTING.md, and the command
// that checks them in both pages.
func TestNeeds(t *testing.T) {
	t.Parallel()
	page := strings.ReplaceAll(read(t, "../CONTRIBUTING.md"), "`", "")
	for _, need := range lab.Needs() {
		if !strings.Contains(page, "| "+need.Tests) {
			t.Errorf("CONTRIBUTING.md has no row for tests of %s", need.Tests)
		}
	}
	for _, text := range []string{page, read(t, "../README.md")} {
		if !strings.Contains(text, "go run ./integration/needs") {
			t.Error("a page that speaks of skipped tests does not name integration/needs")
		}
	}
}

// Pages and messages say "fix".
func TestWordForRepair(t *testing.T) {
	t.Parallel()
	mend := regexp.MustCompile(`(?i)\bmend(s|ed|ing)?\b`)
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		for _, word := range mend.FindAllString(read(t, page), -1) {
			t.Errorf("%s says %q", page, word)
		}
	}
	for _, p := range lab.Packages(t) {
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if text, ok := node.(*ast.BasicLit); ok && mend.MatchString(text.Value) {
					t.Errorf("%s/%s says %s", p.ImportPath, name, text.Value)
				}
				return true
			})
		}
	}
}

// What a model is told besides is said in the way that people do not read: the messages of
// errors are for them.
func TestWordsForModels(t *testing.T) {
	t.Parallel()
	words := regexp.MustCompile(`(?i)\b(do not try|(tell|ask) the person[,;" ]|tell them )`)
	routed := regexp.MustCompile(`Told\(|Model: |const stop = |"\\nDo not try`)
	for _, p := range lab.Packages(t) {
		for _, name := range p.GoFiles {
			for line := range strings.Lines(read(t, filepath.Join(p.Dir, name))) {
				text, _, _ := strings.Cut(line, "// ")
				at := words.FindStringIndex(text)
				if at != nil && strings.Contains(text, "run.Error") && !routed.MatchString(text) || at != nil && strings.Contains(text, "denied(") && !routed.MatchString(text) {
					t.Errorf("%s/%s says to people: %s", p.ImportPath, name, strings.TrimSpace(text))
				}
			}
		}
	}
}

// What the documentation links to exists, headings too.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	links := regexp.MustCompile(`\]\(([^)#:]*)(#[^)]+)?\)`)
	anchors := map[string][]string{} // by page
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md") {
		for _, link := range links.FindAllStringSubmatch(read(t, page), -1) {
			to := filepath.Join(filepath.Dir(page), link[1])
			if link[1] == "" {
				to = page
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, link[1])
				continue
			}
			if link[2] != "" && anchors[to] == nil {
				anchors[to] = headings(read(t, to))
			}
			if link[2] != "" && !slices.Contains(anchors[to], link[2]) {
				t.Errorf("%s links to %s%s: there is no such heading", page, link[1], link[2])
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// headings are the anchors that a page has.
func headings(page string) []string {
	var all []string
	left := regexp.MustCompile(`[^\pL\pN_ -]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		kept := left.ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, "#"+strings.ReplaceAll(kept, " ", "-"))
	}
	return all
}

// The messages that docs/troubleshooting.md quotes are the program's: each part
// between "…" is in a string of its source. One is the system's.
func TestTroubleshooting(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, p := range lab.Packages(t) {
		sources, err := filepath.Glob(filepath.Join(p.Dir, "*.go")) // of other systems, too
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range sources {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING {
					value, _ := strconv.Unquote(text.Value)
					all.WriteString(value + "\n")
				}
				return true
			})
		}
	}
	quoted := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(read(t, "../docs/troubleshooting.md"), -1)
	if len(quoted) < 20 {
		t.Errorf("%d messages are quoted", len(quoted))
	}
	for _, message := range quoted {
		if message[1] == "write /dev/stdout: no space left on device" {
			continue
		}
		for part := range strings.SplitSeq(message[1], "…") {
			if !strings.Contains(all.String(), strings.TrimSpace(part)) {
				t.Errorf("no message of the program has %q, as in %q", part, message[1])
			}
		}
	}
}
