package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// AbsolutePath returns a path that starts at folder, unless it is absolute.
func AbsolutePath(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// Lies reports whether a file is dir or below it, by its own path or by the one that
// links lead to.
func Lies(name, dir string) bool { return isBelow(name, dir) || isBelow(skillfs.Resolved(name), dir) }

// isBelow is lies for one path. Folders are compared by identity, so that another spelling
// of a path, or a mount, is the same folder.
func isBelow(name, dir string) bool {
	if skillfs.Inside(dir, name) {
		return true
	}
	want, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, want) {
			return true
		}
		up := filepath.Dir(name)
		if up == name {
			return false
		}
		name = up
	}
}

// IsArchive reports whether a file is a ZIP or a gzip file, by its first bytes.
func IsArchive(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return skillfs.IsPackage(file)
}

// Restricted says that skills cannot enter a workspace, or cannot write to one that they are
// granted: those of a server that root runs are nobody. It is "" where they can, and for any
// other user's server.
func Restricted(workspace string, uid int, write bool) string {
	const nobody = "skills of a server that root runs are nobody, who may not "
	info, err := os.Stat(workspace)
	if uid != 0 || err != nil || OwnedBy(info, sandbox.Nobody) {
		return ""
	}
	switch mode := info.Mode().Perm(); {
	case mode&0o005 != 0o005:
		return fmt.Sprintf(nobody+"enter it (mode %o); start it as the owner of the folder, or run chmod o+rx %s", mode, workspace)
	case write && mode&0o002 == 0:
		return nobody + "write there; start it as the owner of the folder"
	}
	return ""
}

// Writable checks that files can be made in dir, or in the folder that it would
// be made in.
func Writable(dir string) error {
	for {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	file, err := os.CreateTemp(dir, ".skills-mcp-")
	if err != nil {
		return err
	}
	file.Close()
	return os.Remove(file.Name())
}

// CacheDir returns the folder for files that can be made again.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache folder: %w; set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "skills-mcp"), nil
}

// StateDir returns the folder for records that outlive a run, such as usage counts;
// "" if there is none.
func StateDir(home string) string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "skills-mcp")
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, "skills-mcp")
		}
		return ""
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".local", "state", "skills-mcp")
}

// dataDir returns the folder for the skills that the person installs; "" if there is none.
// Sources: the XDG base directories; Apple's and Microsoft's folders of application data.
func dataDir(home string) string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "skills-mcp")
	}
	switch {
	case runtime.GOOS == "windows" && filepath.IsAbs(os.Getenv("LocalAppData")):
		return filepath.Join(os.Getenv("LocalAppData"), "skills-mcp", "data")
	case home == "":
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "skills-mcp", "data")
	}
	return filepath.Join(home, ".local", "share", "skills-mcp")
}

// StoreFile returns the path of the store's file; "" if there is no state folder.
func StoreFile(home string) string {
	if dir := StateDir(home); dir != "" {
		return filepath.Join(dir, "skills-mcp.db")
	}
	return ""
}
