package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// workspacesAmong returns those of a client's roots that the server could have
// been started in to show them to skills, without links, and none in another.
func (s *settings) workspacesAmong(roots []string) []string {
	var found []string
	for _, root := range roots {
		workspace, err := workspaceAt(root, s.home, os.TempDir())
		if err != nil {
			s.logger.Warn("a root of the client cannot be a workspace", "root", root, "reason", err)
			continue
		}
		found = append(found, workspace)
	}
	return outermost(found)
}

// workspaceAt follows the links in a path. Both the path and the folder that it
// leads to have to be such as [defaultWorkspace] takes: a client that a person has
// open in their home folder should show it to skills as little.
func workspaceAt(root, home, temporary string) (string, error) {
	folder, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", errors.New("it is not a folder")
	}
	realHome, realTemporary := resolved(home), resolved(temporary)
	name := folder
	if home != "" && within(realHome, folder) { // which may be /var/home/ann, in a folder of the system's
		inside, _ := filepath.Rel(realHome, folder) // it is within
		name, realHome, realTemporary = filepath.Join(home, inside), home, temporary
	}
	if len(defaultWorkspace(root, home, temporary)) == 0 || len(defaultWorkspace(name, realHome, realTemporary)) == 0 {
		return "", errors.New("it is the home folder or above it, the system's, or temporary; name it with --workspace if skills may see it")
	}
	return folder, nil
}

// resolved is a path without links, where it can be followed.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); path != "" && err == nil {
		return real
	}
	return path
}

// outermost leaves out folders that are in another, which shows them already.
func outermost(folders []string) []string {
	var kept []string
	for i, folder := range folders {
		inside := func(outer string) bool { return outer != folder && within(outer, folder) }
		if !slices.ContainsFunc(folders, inside) && !slices.Contains(folders[:i], folder) {
			kept = append(kept, folder)
		}
	}
	return kept
}
