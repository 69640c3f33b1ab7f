package adopt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// maxFolders bounds the folders in which skills are looked for.
const maxFolders = 512

// findFolders returns the folders of Dir that clients read skills from, slash-separated:
// skills, .X/skills and .X/Y/skills. Other tools write to those of some sixty clients,
// with new ones each month, so their shape is known here and not their names. Links to
// another one of them are left out.
func (a *adopter) findFolders(ctx context.Context) []string {
	first := []string{".agents/skills", ".claude/skills", "skills"}
	candidates := slices.Clone(first)
	for _, client := range a.subfolders(".") {
		if ctx.Err() != nil || !strings.HasPrefix(client, ".") || client == ".git" {
			continue
		}
		candidates = append(candidates, path.Join(client, "skills"))
		for _, below := range a.subfolders(client) {
			candidates = append(candidates, path.Join(client, below, "skills"))
		}
	}
	var folders []string
	var known []fs.FileInfo
	for _, dir := range candidates {
		info, err := a.files.Stat(dir)
		if err != nil || !info.IsDir() || len(folders) == maxFolders || slices.ContainsFunc(known, func(k fs.FileInfo) bool { return os.SameFile(k, info) }) {
			continue
		}
		folders, known = append(folders, dir), append(known, info)
	}
	return folders
}

// subfolders returns the names of the folders in a folder, and none of one with too many.
func (a *adopter) subfolders(dir string) (names []string) {
	entries, err := a.files.ReadDir(dir)
	if err != nil || len(entries) > 1<<14 {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// foldersOf returns the folders that a record may mean. The first one whose files are as
// the tool has recorded them would need all hashes: the order of the clients decides.
func (a *adopter) foldersOf(r *record) (folders []string) {
	if !isBelow(r.folder) {
		return nil
	}
	dirs := r.dirs
	if dirs == nil {
		dirs = a.folders
	}
	for _, dir := range dirs {
		name := path.Join(dir, r.folder)
		if !slices.Contains(folders, name) && a.isFolder(name) && lock.InClientFolder(name) {
			folders = append(folders, name)
		}
	}
	return folders
}

// isFolder reports whether a name is a folder with a skill, and no link.
func (a *adopter) isFolder(name string) bool {
	info, err := a.files.Lstat(name)
	if err != nil || !info.IsDir() {
		return false
	}
	file, err := skillfs.OpenRegular(a.files, path.Join(name, "SKILL.md"))
	if errors.Is(err, fs.ErrNotExist) {
		file, err = skillfs.OpenRegular(a.files, path.Join(name, "skill.md"))
	}
	return err == nil && file.Close() == nil
}

// read returns a file of Dir; nil if there is none.
func (a *adopter) read(name string) ([]byte, error) {
	return readLock(a.files, name, name)
}

func readLock(files fs.FS, name, label string) ([]byte, error) {
	data, err := skillfs.ReadRegular(files, name, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", label, err)
	}
	return data, nil
}
