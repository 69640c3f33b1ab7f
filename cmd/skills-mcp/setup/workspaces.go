package setup

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// workspaces are the folders that skills see, with the project of the first.
type Workspaces struct {
	home     string
	logger   *slog.Logger
	Folders  []string         // without links
	None     string           // the reason why there are none
	Named    bool             // by flags or configuration
	Project  *config.Project  // of the first folder; nil without a file, or with a bad one
	Problems []skills.Problem // of the project's file, for catalogs
}

// newWorkspaces returns the workspaces given by flags, else the configured ones, else
// the current folder if it is a project's.
func newWorkspaces(given, configured []string, folder, home string, logger *slog.Logger) (*Workspaces, error) {
	w := &Workspaces{home: home, logger: logger, Named: len(given)+len(configured) > 0}
	chosen := configured
	if len(given) > 0 {
		chosen = nil
		for _, dir := range given {
			chosen = append(chosen, AbsolutePath(folder, dir))
		}
	} else if len(chosen) == 0 {
		chosen, w.None = defaultWorkspace(folder, home, os.TempDir())
	}
	var err error
	w.Folders, err = resolveWorkspaces(chosen)
	return w, err
}

// resolveWorkspaces follows the links in the paths of workspaces. None may be in
// another: a skill that may write to the outer one could make the inner one a link to
// anywhere.
func resolveWorkspaces(chosen []string) ([]string, error) {
	var real []string
	for i, w := range chosen {
		for j, outer := range chosen {
			if i != j && skillfs.Inside(outer, w) {
				return nil, exitcode.Usage(fmt.Errorf("workspace %s is in workspace %s, which shows it already; name one of them", w, outer))
			}
		}
		resolved, err := filepath.EvalSymlinks(w)
		if err != nil {
			return nil, exitcode.Usage(fmt.Errorf("workspace: %w", err))
		}
		if info, err := os.Stat(resolved); err != nil || !info.IsDir() {
			return nil, exitcode.Usage(fmt.Errorf("workspace %s is not a folder", w))
		}
		real = append(real, resolved)
	}
	return real, nil
}

// ResolveWorkspace follows the links in the path of a profile's workspace, which must be a
// folder.
func ResolveWorkspace(p *policy.Profile) error {
	if p.Workspace == "" {
		return nil
	}
	real, err := resolveWorkspaces([]string{p.Workspace})
	if err == nil {
		p.Workspace = real[0]
	}
	return err
}

// defaultWorkspace returns folder as the only workspace, or the reason for none if it is /,
// the home folder, a system or a temporary folder: desktop clients start servers there, and
// nobody means to show those to skills. A project in a temporary folder is a workspace.
func defaultWorkspace(folder, home, temporary string) (workspaces []string, none string) {
	none = "it was started in " + folder + ", "
	if folder == filepath.Dir(folder) || home != "" && skillfs.Inside(folder, home) {
		return nil, none + "which is the home folder or above it"
	}
	system := []string{
		"/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/var",
		"/System", "/Library", "/Applications", os.Getenv("SystemRoot"), os.Getenv("ProgramFiles"),
	}
	if skillfs.Inside(temporary, folder) {
		if !hasProject(folder) {
			return nil, none + "which is temporary and no project's (it has no .git, package.json or the like)"
		}
		return []string{folder}, ""
	}
	for _, dir := range system {
		if dir != "" && skillfs.Inside(dir, folder) {
			return nil, none + "which is a system folder"
		}
	}
	return []string{folder}, ""
}

// hasProject reports whether a folder looks like the top of a project.
func hasProject(folder string) bool {
	for _, name := range []string{
		".git", ".hg", ".claude", ".colony", ".agents", "go.mod", "package.json", "pyproject.toml", "setup.py",
		"requirements.txt", "Cargo.toml", "pom.xml", "build.gradle", "Gemfile", "composer.json", "Makefile",
	} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return true
		}
	}
	return false
}

// maxProject is the largest project file that is read, in bytes.
const maxProject = 64 << 10

// addProject reads the project's file. A bad one is a problem and not an error: a
// stranger may have written it, and should not decide whether the program works.
func (w *Workspaces) addProject() {
	if err := w.loadProject(); err != nil {
		w.reject(err)
	}
}

// reject omits the project's file, with a reason.
func (w *Workspaces) reject(err error) {
	w.Project = nil
	file := filepath.Join(w.Folders[0], config.ProjectFile)
	p := skills.Problem{
		Severity: skills.Warning, Path: file, Message: "it is left out: " + strings.TrimPrefix(err.Error(), file+": "),
		Remedy: "correct the file, or remove it",
	}
	w.Problems = append(w.Problems, p)
	w.logger.Warn("the workspace's own configuration does not count", "problem", p.String())
}

// loadProject reads the project's file in the first folder, if there is one.
func (w *Workspaces) loadProject() error {
	if len(w.Folders) == 0 {
		return nil
	}
	dir := w.Folders[0]
	data, err := skillfs.ReadRegular(skillfs.DirFS(dir), config.ProjectFile, maxProject)
	info, missing := os.Lstat(filepath.Join(dir, config.ProjectFile))
	if missing != nil || info.IsDir() { // a folder keeps skills from making the file; see package protect
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, config.ProjectFile), err)
	}
	w.Project, err = config.ParseProject(data, dir)
	return err
}

// Among returns the client's roots that could be default workspaces, without links,
// and none in another.
func (w *Workspaces) Among(roots []string) []string {
	var found []string
	for _, root := range roots {
		workspace, err := workspaceAt(root, w.home, os.TempDir())
		if err != nil {
			w.logger.Warn("a root of the client cannot be a workspace", "root", root, "reason", err)
			continue
		}
		found = append(found, workspace)
	}
	return outermost(found)
}

// workspaceAt follows the links in a path. Both the path and its target must be
// accepted by [defaultWorkspace]: a client that is open in the home folder should not
// show it to skills either.
func workspaceAt(root, home, temporary string) (string, error) {
	folder, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", errors.New("it is not a folder")
	}
	realHome, realTemporary := skillfs.Resolved(home), skillfs.Resolved(temporary)
	name := folder
	if home != "" && skillfs.Inside(realHome, folder) { // which may be /var/home/ann, in a folder of the system's
		inside, _ := filepath.Rel(realHome, folder) // it is within
		name, realHome, realTemporary = filepath.Join(home, inside), home, temporary
	}
	_, none := defaultWorkspace(root, home, temporary)
	if _, really := defaultWorkspace(name, realHome, realTemporary); none != "" || really != "" {
		return "", errors.New("it is the home folder or above it, the system's, or temporary; name it with --workspace if skills may see it")
	}
	return folder, nil
}

// outermost omits folders that are in another one of them.
func outermost(folders []string) []string {
	var kept []string
	for i, folder := range folders {
		inside := func(outer string) bool { return outer != folder && skillfs.Inside(outer, folder) }
		if !slices.ContainsFunc(folders, inside) && !slices.Contains(folders[:i], folder) {
			kept = append(kept, folder)
		}
	}
	return kept
}
