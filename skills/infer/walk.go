package infer

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// The limits of a skill that is searched.
const (
	maxDepth = 5        // folders inside each other
	maxFiles = 2000     // entries of folders
	maxHead  = 64 << 10 // bytes of one script
	maxBytes = 2 << 20  // bytes of all
	firstTry = 512      // bytes that decide whether a file without extension is a script
)

// A Script is an entry point: a file with a first line "#!…" or a main guard, or one
// that the instructions run, if it does more than define names for others.
type Script struct {
	// Path is slash-separated, in the skill's folder.
	Path string
	// Name is a name for a tool: of [a-z0-9_-], and unique in the skill.
	Name string
	Kind Kind
	// Interpreter is the command that the script is passed to.
	Interpreter []string
	// Doc is the module docstring or the comment at the top, without its parts for
	// programs and lawyers; "" if there is none. It is at most 2 KiB.
	Doc string
	// Named reports that the skill's instructions name the script.
	Named bool
	// Prompts reports that the script seems to ask somebody for input, which nobody
	// answers in a sandbox.
	Prompts bool
}

// A finder collects the scripts of one skill's folder.
type finder struct {
	fsys       fs.FS
	mentions   mentions
	runs       mentions          // files that the instructions pass to an interpreter
	calls      mentions          // files that they start themselves
	used       map[string]bool   // files that others source or import, without extension
	alone      map[string]bool   // scripts that the instructions run, or with a main guard that is no demonstration
	modules    map[string]module // scripts that were read to their end
	scripts    []Script
	files      int // entries seen
	bytes      int // that may still be read
	incomplete bool
}

func newFinder(fsys fs.FS, instructions string) *finder {
	runs, calls := findRuns(instructions)
	return &finder{
		fsys: fsys, mentions: findMentions(instructions), runs: findMentions(runs), calls: findMentions(calls),
		used: map[string]bool{}, alone: map[string]bool{}, modules: map[string]module{}, bytes: maxBytes,
	}
}

func (f *finder) walk(dir string, depth int) {
	entries, err := fs.ReadDir(f.fsys, dir)
	if err != nil || depth > 0 && hasManifest(entries) {
		return
	}
	for _, entry := range entries {
		if f.files++; f.files > maxFiles || f.bytes <= 0 {
			f.incomplete = true
			return
		}
		name := path.Join(dir, entry.Name())
		switch {
		case entry.IsDir() && !skipDir(entry.Name()):
			if depth == maxDepth {
				f.incomplete = true
				continue
			}
			f.walk(name, depth+1)
		case entry.Type().IsRegular() && mayBeScript(entry.Name()) && !skipFile(entry.Name()):
			f.look(name)
		}
	}
}

// hasManifest reports whether a folder is a skill of its own.
func hasManifest(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.EqualFold(e.Name(), "SKILL.md") })
}

// look adds the file if it is an entry point.
func (f *finder) look(name string) {
	text, whole, ok := f.read(name)
	if !ok {
		return
	}
	interpreter := Interpreter(name, text)
	kind := language(interpreter)
	m := newModule(kind, text)
	f.use(name, kind, text)
	_, run := f.runs.of(name)
	run = run && hasKind(name)
	_, called := f.calls.of(name)
	guard := guarded(kind, text)
	testing := tests(kind, text, m)
	if len(shebang(text)) == 0 && !guard && !run || !run && !called && (isTest(path.Base(name)) || isSample(name) || testing) {
		return
	}
	if installs(name, text) || !testing && whole && m != nil && !m.Runs() {
		return
	}
	_, named := f.mentions.of(name)
	f.alone[name] = run || called || guard && (named || kind == Bash || containsAny(string(text), argumentWords))
	if whole {
		f.modules[name] = m
	}
	plain := strings.ReplaceAll(string(text), "\r\n", "\n")
	if !utf8.ValidString(plain) { // which is ten times as fast
		plain = strings.ToValidUTF8(plain, "\uFFFD")
	}
	f.scripts = append(f.scripts, Script{
		Path: name, Kind: kind, Interpreter: interpreter, Named: named,
		Doc: doc(kind, plain, m), Prompts: prompts(kind, plain),
	})
}

// argumentWords are words of which a script that reads its arguments has one.
var argumentWords = []string{"argv", "argparse", "click", "typer", "parseArgs", "commander", "yargs"}

// read returns the beginning of a file that is text, and whether that is all of it.
func (f *finder) read(name string) (text []byte, whole, ok bool) {
	file, err := f.fsys.Open(name)
	if err != nil {
		return nil, false, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, false, false // it is newer than the list of the folder
	}
	limit := firstTry + min(maxHead-firstTry, f.bytes)
	buffer := make([]byte, min(int64(limit), info.Size()+1)) // with room to see the end
	if !hasKind(name) {
		n, err := io.ReadFull(file, buffer[:min(firstTry, len(buffer))])
		if text = buffer[:n]; err != nil && !ended(err) || !promising(name, text) {
			return nil, false, false
		}
	}
	n, err := io.ReadFull(file, buffer[len(text):])
	text = buffer[:len(text)+n]
	if err == nil && len(text) < limit { // it has grown since
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(file, int64(limit-len(text))))
		text = append(text, rest...)
	}
	f.bytes -= len(text)
	whole = len(text) < limit
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	return text, whole, (err == nil || ended(err)) && bytes.IndexByte(text, 0) < 0
}

// ended reports whether an error of [io.ReadFull] is that the file is shorter.
func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// promising reports whether the rest of a file is worth reading: it has a first
// line "#!…", or is of a language that has main guards.
func promising(name string, head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\uFEFF"))
	return len(shebang(head)) > 0 || hasKind(name)
}

// The forms in which a script uses another one.
var (
	sourced   = lazyregexp.New(`(?m)(?:^|[;&|{]|\bthen|\bdo)[ \t]*(?:source|\.)[ \t]+(.*)`)
	shellName = lazyregexp.New(`[\w.-]+\.(?:sh|bash)\b`)
	imported  = lazyregexp.New(`(?:\brequire\(|\bfrom|\bimport\(?)\s*["'](\.{1,2}/[^"'\n]+)["']`)
	// pythonImported matches an import of Python with the module, or the first of several.
	pythonImported = lazyregexp.New(`^\s*(?:from\s+(\.*[\w.]*)\s+import\s+(\w+)|import\s+([\w.]+))`)
)

// use records the files that a script sources or imports. Of a file that a shell
// script sources only the name is known: the folder is computed. Few lines have the
// words, and only those are matched.
func (f *finder) use(name string, kind Kind, text []byte) {
	has := func(line []byte, words string) bool { return bytes.Contains(line, []byte(words)) }
	for line := range bytes.Lines(text) {
		switch {
		case kind == Bash && (has(line, ".sh") || has(line, ".bash")) && (has(line, "source") || has(line, ". ")):
			if m := sourced.FindSubmatch(line); m != nil {
				for _, name := range shellName.FindAll(m[1], -1) {
					f.used[string(name)] = true
				}
			}
		case kind == Python && has(line, "import"):
			if m := pythonImported.FindSubmatch(line); m != nil {
				f.usePython(path.Dir(name), string(m[1])+string(m[3]), string(m[2]))
			}
		case kind == Node && has(line, "./"):
			for _, m := range imported.FindAllSubmatch(line, -1) {
				target := path.Join(path.Dir(name), string(m[1]))
				f.used[target] = true
				f.used[strings.TrimSuffix(target, path.Ext(target))] = true
			}
		}
	}
}

// usePython records a module that a script in a folder imports, or from which it imports a
// name, which may be a module: beside the script, or from the skill's folder.
func (f *finder) usePython(dir, module, name string) {
	if up := len(module) - len(strings.TrimLeft(module, ".")); up > 1 {
		dir = path.Join(dir, strings.Repeat("../", up-1))
	}
	module = strings.ReplaceAll(strings.TrimLeft(module, "."), ".", "/")
	for _, from := range []string{dir, ""} {
		f.used[path.Join(from, module)] = true
		f.used[path.Join(from, module, name)] = true
	}
}

// isHelper reports whether other scripts use the script, and nothing shows that it is
// run by itself; or whether it was built into another one.
func (f *finder) isHelper(s Script) bool {
	if f.isSource(s) {
		return true
	}
	if f.alone[s.Path] {
		return false
	}
	switch s.Kind {
	case Bash:
		return f.used[path.Base(s.Path)]
	case Python, Node:
		return f.used[s.Path] || f.used[strings.TrimSuffix(s.Path, path.Ext(s.Path))]
	}
	return false
}

// isSource reports whether a TypeScript file has its JavaScript beside it, or in
// a folder for builds.
func (f *finder) isSource(s Script) bool {
	ext := path.Ext(s.Path)
	if ext != ".ts" && ext != ".mts" && ext != ".cts" {
		return false
	}
	stem := strings.TrimSuffix(s.Path, ext)
	dir, base := path.Split(stem)
	stems := []string{stem}
	for _, built := range []string{"dist", "build", "lib", "out"} {
		stems = append(stems, dir+built+"/"+base, strings.Replace("/"+stem, "/src/", "/"+built+"/", 1)[1:])
	}
	return slices.ContainsFunc(f.scripts, func(other Script) bool {
		ext := path.Ext(other.Path)
		return (ext == ".js" || ext == ".mjs" || ext == ".cjs") && slices.Contains(stems, strings.TrimSuffix(other.Path, ext))
	})
}

// skipFile reports whether a file of this name is never an entry point.
func skipFile(name string) bool {
	switch name {
	case "conftest.py", "__init__.py":
		return true
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	return strings.HasPrefix(name, ".") || strings.HasSuffix(stem, ".d") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec")
}

// testName matches the names of tests and of scripts that run them, in lower case.
var testName = lazyregexp.New(`^(?:run[_-]?)?(?:all[_-]?)?tests?(?:[_\-.0-9]|$)|[_-]tests?(?:\.|$)`)

// isTest reports whether a file of this name is a test, unless the instructions
// run it: "ab_test.py" may be about statistics.
func isTest(name string) bool { return testName.MatchString(strings.ToLower(name)) }

// isSample reports whether a script lies in a folder of things to copy, unless the
// instructions run it.
func isSample(name string) bool {
	for _, dir := range strings.Split(path.Dir(name), "/") {
		switch strings.ToLower(dir) {
		case "example", "examples", "template", "templates", "asset", "assets", "sample", "samples", "demo", "demos":
			return true
		}
	}
	return false
}

// skipDir reports whether a folder of this name has no entry points of the
// skill.
func skipDir(name string) bool {
	switch name {
	case "test", "tests", "__tests__", "testdata", "test-data", "test_data", "fixture", "fixtures", "__fixtures__", "__mocks__", "test-fixtures", "test_fixtures",
		"node_modules", "site-packages", "venv", "vendor", "third_party", "__pycache__":
		return true
	}
	return strings.HasPrefix(name, ".")
}

// mayBeScript reports whether the extension is one of scripts. Files of other
// kinds are not opened.
func mayBeScript(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case "", ".py", ".sh", ".bash", ".zsh", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".rb", ".pl", ".php", ".lua", ".r", ".awk", ".tcl":
		return true
	}
	return false
}
