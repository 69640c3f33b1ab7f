package run

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// files resolves relative names of files among the arguments of an undeclared script
// as their caller means them: a file of the workspace is found there, one of the
// skill's folder stays, and files to write go into /out, or into a writable
// workspace. Values that are no names of files stay as they are.
func (x *Executor) files(r Request, args map[string]any, write bool) {
	params := r.Skill.Entry.Files()
	if len(params) == 0 {
		return
	}
	w := x.openWorkspace(r.Folder)
	w.skill = r.Skill.Files
	defer w.close()
	for _, p := range params {
		place := func(value string) string { return w.place(p, value, write) }
		switch value := args[p.Name].(type) {
		case nil:
			fallback(r.Skill, p, args, w.fallback(p, write))
		case string:
			args[p.Name] = place(value)
		case []any:
			all := make([]any, len(value))
			for i, item := range value {
				all[i] = item
				if text, ok := item.(string); ok {
					all[i] = place(text)
				}
			}
			args[p.Name] = all
		}
	}
}

// fallback gives a parameter a value in place of the script's own default, where
// the call can have it: it may be of another command.
func fallback(skill *skills.Skill, p skills.FileParam, args map[string]any, value string) {
	if value == "" || value == p.Fallback {
		return
	}
	args[p.Name] = value
	if _, err := skill.Entry.Pass(args); err != nil {
		delete(args, p.Name)
	}
}

// workspace is the folder that relative names start from.
type workspace struct {
	root   *os.Root // nil is none; it opens nothing outside
	folder string   // absolute
	below  string   // the folder's path in root
	skill  fs.FS    // the skill's folder
}

// openWorkspace opens the workspace that has a folder, or the first one.
func (x *Executor) openWorkspace(folder string) *workspace {
	for _, dir := range x.options.Workspaces {
		if folder == "" || within(dir, folder) {
			root, err := os.OpenRoot(dir)
			if err != nil {
				break
			}
			w := &workspace{root: root, folder: dir, below: "."}
			if folder != "" {
				w.folder = folder
				w.below, _ = filepath.Rel(dir, folder)
			}
			return w
		}
	}
	if folder != "" { // it is in none
		return x.openWorkspace("")
	}
	return &workspace{}
}

func (w *workspace) close() {
	if w.root != nil {
		w.root.Close()
	}
}

func (w *workspace) has(name string) bool {
	if w.root == nil {
		return false
	}
	_, err := w.root.Stat(filepath.Join(w.below, filepath.FromSlash(name)))
	return err == nil
}

// owns reports whether the skill's folder has a file of this name.
func (w *workspace) owns(name string) bool {
	if name = path.Clean(name); name == "." || !fs.ValidPath(name) {
		return false
	}
	_, err := fs.Stat(w.skill, name)
	return err == nil
}

// place returns the path that the script gets for a value. A slash at its end stays:
// scripts append names to it.
func (w *workspace) place(p skills.FileParam, value string, write bool) string {
	placed := value
	switch reads := !p.Written || p.Read; {
	case !p.Takes(value):
		return value
	case reads && w.has(value), p.Written && write && w.root != nil && filepath.IsLocal(filepath.Join(w.below, filepath.FromSlash(value))):
		placed = filepath.Join(w.folder, filepath.FromSlash(value))
	case p.Written && !(reads && w.owns(value)):
		if name := path.Clean(value); fs.ValidPath(name) {
			placed = path.Join(sandbox.OutDir, name)
		}
	}
	if strings.HasSuffix(value, "/") && !strings.HasSuffix(placed, "/") {
		placed += "/"
	}
	return placed
}

// fallback returns the path that replaces the script's own default; "" keeps the
// default, such as a file of the skill: its author means that one.
func (w *workspace) fallback(p skills.FileParam, write bool) string {
	if (!p.Written || p.Read) && w.owns(p.Fallback) {
		return ""
	}
	return w.place(p, p.Fallback, write)
}

// Messages of scripts for a file that is not found, or cannot be written.
var (
	saysReadOnly = regexp.MustCompile(`(?i)read-only file system|EROFS`)
	saysMissing  = regexp.MustCompile(`(?i)no such file or directory|ENOENT|FileNotFoundError|(?:file|path|director\w*|folder|input)\b.{0,200}(?:not found|does not exist|not a (?:valid )?(?:file|directory|path))|not found: \S*[./]`)
)

// lostFile returns a hint for a script that failed with a message about a file; ""
// without such a message.
func lostFile(o *Outcome, grant sandbox.Grant) string {
	said := string(o.Stderr.Head) + string(o.Stderr.Tail) + string(o.Stdout.Head) + string(o.Stdout.Tail)
	var hints []string
	if saysReadOnly.MatchString(said) {
		hint := "it may write to /out and /tmp alone, and its folder, /skill, is read-only: name what it writes by a path in /out, which is returned"
		if grant.Write {
			hint = "its folder, /skill, is read-only: name what it writes by a path in the workspace or in /out, which is returned"
		}
		hints = append(hints, hint)
	}
	if saysMissing.MatchString(said) {
		hint := "it runs in its own folder, /skill, and sees no workspace; a person can start the server with --workspace DIR"
		if len(grant.Workspaces) > 0 {
			hint = "it runs in its own folder, /skill: name files of the workspace by their whole path, " + path.Join(filepath.ToSlash(grant.Workspaces[0]), "NAME")
			if grant.Aliased() {
				hint += " or " + path.Join(sandbox.WorkspaceDir, "NAME")
			}
		}
		hints = append(hints, hint)
	}
	return strings.Join(hints, "; ")
}
