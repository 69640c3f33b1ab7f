// Package catalog makes folders of skills that servers are measured with.
// Start with [Make].
package catalog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Make makes a home folder with n skills of usual length, each in a folder of
// its own, and a configuration that lets all of them be read.
func Make(home string, n int) error {
	if err := os.MkdirAll(filepath.Join(home, "work"), 0o755); err != nil {
		return err
	}
	for i := range n {
		if err := makeSkill(filepath.Join(home, "skills", Name(i)), i); err != nil {
			return err
		}
	}
	return Configure(home, n, "")
}

// Configure writes the configuration of a home folder with n skills: only those
// are found. more is YAML that follows.
func Configure(home string, n int, more string) error {
	config := fmt.Sprintf("skills: [skills]\nroots: {session: false, user: false, system: false, samples: false}\nscan: {folders: %d}\n%s", 2*n+100, more)
	return os.WriteFile(filepath.Join(home, "config.yaml"), []byte(config), 0o644)
}

// Name returns the name of skill i, and of its folder in "skills".
func Name(i int) string { return fmt.Sprintf("skill-%05d", i) }

func makeSkill(dir string, i int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte("#!/bin/bash\necho\n"), 0o644); err != nil {
		return err
	}
	return Write(dir, i, 0)
}

// Write writes the SKILL.md of skill i to dir. Each number of edits makes another
// text.
func Write(dir string, i, edit int) error {
	text := fmt.Sprintf(`---
name: %s
description: Does the thing number %d, as a description of usual length would say in a sentence or two, for the time number %d.
script: run.sh
params:
  path: {type: string, required: true, description: Where to look.}
  count: {type: integer, minimum: 1, default: 5}
---
%s`, Name(i), i, edit, bytes.Repeat([]byte("Some instructions of usual length.\n"), 100))
	return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644)
}
