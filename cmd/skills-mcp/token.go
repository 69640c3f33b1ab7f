package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// tokenVariable holds the bearer token if no file does.
const tokenVariable = "SKILLS_MCP_TOKEN"

// The shortest token that is accepted, and the largest file that is read for one,
// in bytes.
const (
	minToken = 16
	maxToken = 64 << 10
)

// A tokenReader reads the bearer token, from no file that a skill could read.
type tokenReader struct {
	workspaces []string // folders
	roots      []string // folders in which skills are found
}

// token returns the bearer token that clients must send, or "".
func (t *tokenReader) token(file string) (string, error) {
	text, from := os.Getenv(tokenVariable), tokenVariable
	if file != "" {
		data, err := t.readFile(file)
		if err != nil {
			return "", err
		}
		text, from = string(data), file
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "" && file == "":
		return "", nil
	case len(text) < minToken:
		return "", fmt.Errorf("the token in %s is shorter than %d characters; make one with: openssl rand -hex 32", from, minToken)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("the token in %s must be one word of visible ASCII characters", from)
	}
	return text, nil
}

// readFile reads a token file that neither a skill nor another user can read. Even a
// skill of the class safe reads every file of a workspace.
func (t *tokenReader) readFile(name string) ([]byte, error) {
	if err := t.outside(name); err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = private(name, info)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxToken))
	if err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	return data, nil
}

// outside returns an error for a file in a workspace or where skills are found, by its
// own path or by the one that links lead to.
func (t *tokenReader) outside(name string) error {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	paths := []string{absolute}
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		paths = append(paths, real) // else it is missing, or a pipe: opening it tells
	}
	for _, path := range paths {
		for _, w := range t.workspaces {
			if lies(path, w) {
				return fmt.Errorf("the token file %s is in the workspace %s, whose files every skill reads; %s", name, w, tokenRemedy)
			}
		}
		for _, root := range t.roots {
			if lies(path, root) {
				return fmt.Errorf("the token file %s is in %s, where skills are found; %s", name, root, tokenRemedy)
			}
		}
	}
	return nil
}

const tokenRemedy = "move it to a folder of yours alone, such as ~/.config/skills-mcp, and make a new token if a server ran with this one"

// private returns an error for a file that other users can read or write. The group of
// a file of root may read it, as administrators hand files to services so.
func private(name string, info fs.FileInfo) error {
	mode := info.Mode()
	if runtime.GOOS == "windows" || mode.IsDir() || mode.Perm()&0o077 == 0 || mode.Perm()&0o037 == 0 && ownedBy(info, 0) {
		return nil
	}
	return fmt.Errorf("the token file %s has the mode %04o, so other users read or write it; run: chmod 600 %s, and make a new token if others may have read it", name, mode.Perm(), name)
}
