package infer

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python"
)

// How much of a skill is looked at.
const (
	maxDepth = 5        // folders, one in the other
	maxFiles = 2000     // entries of folders
	maxHead  = 64 << 10 // bytes of one script
	maxBytes = 2 << 20  // bytes of all
	firstTry = 512      // bytes that show whether a file without extension is a script
)

// finder looks through one skill's folder.
type finder struct {
	fsys       fs.FS
	mentions   mentions
	runs       mentions                  // files that the instructions pass to an interpreter
	used       map[string]bool           // files that others source or import, without extension
	alone      map[string]bool           // scripts with a main guard, or that the instructions run
	modules    map[string]*python.Module // Python scripts that were read to their end
	scripts    []Script
	files      int // entries seen
	bytes      int // that may still be read
	incomplete bool
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
	for _, entry := range entries {
		if strings.EqualFold(entry.Name(), "SKILL.md") {
			return true
		}
	}
	return false
}

// look adds the file if it is an entry point.
func (f *finder) look(name string) {
	text, whole, ok := f.read(name)
	if !ok {
		return
	}
	module := python.NewModule(text)
	interpreter := Interpreter(name, text)
	kind := kindOf(interpreter)
	f.use(name, kind, text)
	_, run := f.runs.of(name)
	run = run && hasKind(name)
	guard := guarded(kind, text)
	testing := tests(kind, text, module)
	if len(shebang(text)) == 0 && !guard && !run || !run && (isTest(path.Base(name)) || testing) {
		return
	}
	plain := strings.ToValidUTF8(strings.ReplaceAll(string(text), "\r\n", "\n"), "\uFFFD")
	if installs(name, text) || !testing && defines(kind, plain, guard, module) {
		return
	}
	_, named := f.mentions.of(name)
	f.alone[name] = guard || run
	if kind == Python && whole {
		f.modules[name] = module
	}
	f.scripts = append(f.scripts, Script{
		Path: name, Kind: kind, Interpreter: interpreter, Named: named,
		Doc: doc(kind, plain), Prompts: prompts(kind, plain, module),
	})
}

// read returns the beginning of a file that is text, and whether that is all of it.
func (f *finder) read(name string) (text []byte, whole, ok bool) {
	file, err := f.fsys.Open(name)
	if err != nil {
		return nil, false, false
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false, false // it was put there since the folder was read
	}
	text, err = io.ReadAll(io.LimitReader(file, firstTry))
	if err != nil || !promising(name, text) {
		return nil, false, false
	}
	limit := min(maxHead-firstTry, f.bytes)
	rest, err := io.ReadAll(io.LimitReader(file, int64(limit)))
	f.bytes -= len(text) + len(rest)
	text = bytes.TrimPrefix(append(text, rest...), []byte("\uFEFF"))
	return text, len(rest) < limit, err == nil && !bytes.Contains(text, []byte{0})
}

// promising reports whether the rest of a file is worth reading: it has a first
// line "#!…", or is of a language that has main guards.
func promising(name string, head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\uFEFF"))
	return len(shebang(head)) > 0 || hasKind(name)
}

// hasKind reports whether a file is of a language that is understood, by its
// extension alone.
func hasKind(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".py", ".sh", ".bash", ".js", ".mjs", ".cjs":
		return true
	}
	return false
}
