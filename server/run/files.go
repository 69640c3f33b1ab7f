package run

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// resolveFiles resolves relative file names among the arguments of a script that
// declares nothing, as the caller means them: a file of the workspace is found there,
// one of the skill's folder stays, and files to write go into /out, or into a writable
// workspace. Other values stay as they are. folder is that of the [Request].
func resolveFiles(skill *skills.Skill, args map[string]any, folder string, grant sandbox.Grant) {
	params := skill.Entry.Files()
	if len(params) == 0 {
		return
	}
	w := openWorkspace(grant.Workspaces, folder)
	w.skill, w.writable = skill.Files, grant.Write
	defer w.close()
	for _, p := range params {
		switch value := args[p.Name].(type) {
		case nil:
			fallback(skill, p, args, w.fallback(p))
		case string:
			args[p.Name] = w.resolve(p, value)
		case []any:
			all := make([]any, len(value))
			for i, item := range value {
				all[i] = item
				if text, ok := item.(string); ok {
					all[i] = w.resolve(p, text)
				}
			}
			args[p.Name] = all
		}
	}
}

// Paths returns the arguments that name files of the proposal's workspaces, by the names of
// their parameters: absolute, and without links, as they are now. A parameter with another
// value has none. Approve's arguments alone have them.
func (p *Proposal) Paths() map[string][]string {
	names, found := map[string]bool{}, map[string][]string{}
	if p.Skill.Entry == nil {
		return nil
	}
	for _, param := range p.Skill.Entry.Params() {
		names[param.Name] = param.Path
	}
	for _, file := range p.Skill.Entry.Files() {
		names[file.Name] = true
	}
	for name := range names {
		values, ok := p.Args[name].([]any)
		if text, one := p.Args[name].(string); one {
			values, ok = []any{text}, true
		}
		var paths []string
		for _, value := range values {
			text, _ := value.(string)
			path, inside := p.path(text)
			ok = ok && inside
			paths = append(paths, path)
		}
		if names[name] && ok && len(paths) > 0 {
			found[name] = paths
		}
	}
	return found
}

// path returns the absolute path of a file in a workspace, without links. Files at its end
// may be missing.
func (p *Proposal) path(text string) (path string, ok bool) {
	grant := p.Command.Grant
	if rest, below := strings.CutPrefix(text, sandbox.WorkspaceDir+"/"); below && grant.Aliased() {
		text = filepath.Join(grant.Workspaces[0], rest)
	}
	text = strings.TrimSuffix(text, "/")
	if !filepath.IsAbs(text) || filepath.Clean(text) != text {
		return "", false
	}
	path, err := realPath(text)
	return path, err == nil && slices.ContainsFunc(grant.Workspaces, func(dir string) bool {
		dir, err := filepath.EvalSymlinks(dir)
		return err == nil && skillfs.Inside(dir, path)
	})
}

// realPath returns an absolute path without links, of which the last names may be missing.
func realPath(name string) (string, error) {
	real, err := filepath.EvalSymlinks(name)
	if _, there := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) || there == nil { // a link to nowhere is none
		return real, err
	}
	parent, err := realPath(filepath.Dir(name))
	return filepath.Join(parent, filepath.Base(name)), err
}

// fallback sets a parameter to value in place of the script's own default, unless
// the command of this call does not take the parameter.
func fallback(skill *skills.Skill, p skills.FileParam, args map[string]any, value string) {
	if value == "" || value == p.Fallback {
		return
	}
	args[p.Name] = value
	if _, err := skill.Entry.Pass(args); err != nil {
		delete(args, p.Name)
	}
}

// A workspace is the folder that relative names start from.
type workspace struct {
	root     *os.Root // nil is none; it opens nothing outside
	folder   string   // absolute
	below    string   // the folder's path in root
	skill    fs.FS    // the skill's folder
	writable bool
}

// openWorkspace opens the workspace that contains folder, or else the first one.
func openWorkspace(workspaces []string, folder string) *workspace {
	for _, dir := range workspaces {
		if folder == "" || skillfs.Inside(dir, folder) {
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
		return openWorkspace(workspaces, "")
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

// inSkill reports whether the skill's folder has a file of this name.
func (w *workspace) inSkill(name string) bool {
	if name = path.Clean(name); name == "." || !fs.ValidPath(name) {
		return false
	}
	_, err := fs.Stat(w.skill, name)
	return err == nil
}

// resolve returns the path that the script receives for a value. A slash at its end
// stays: scripts append names to it.
func (w *workspace) resolve(p skills.FileParam, value string) string {
	resolved := value
	switch reads := !p.Written || p.Read; {
	case !p.Takes(value):
		return value
	case reads && w.has(value), p.Written && w.writable && w.root != nil && filepath.IsLocal(filepath.Join(w.below, filepath.FromSlash(value))):
		resolved = filepath.Join(w.folder, filepath.FromSlash(value))
	case p.Written && !(reads && w.inSkill(value)):
		if name := path.Clean(value); fs.ValidPath(name) {
			resolved = path.Join(sandbox.OutDir, name)
		}
	}
	if strings.HasSuffix(value, "/") && !strings.HasSuffix(resolved, "/") {
		resolved += "/"
	}
	return resolved
}

// fallback returns the path that replaces the script's own default; "" keeps the
// default, such as a file of the skill: its author means that one.
func (w *workspace) fallback(p skills.FileParam) string {
	if (!p.Written || p.Read) && w.inSkill(p.Fallback) {
		return ""
	}
	return w.resolve(p, p.Fallback)
}
