// Package scaffold creates a new skill from a template: a SKILL.md with typed
// parameters and a runnable script that reads them.
//
// Start with [Write].
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/check"
)

//go:embed templates
var templates embed.FS

// templateEnding hides a template from scans of this repository, which would load
// it as a skill.
const templateEnding = ".tmpl"

// nameMark is the placeholder of the skill's name in the templates.
const nameMark = "{{NAME}}"

// Languages returns the languages of the script of a new skill.
func Languages() []string { return []string{"bash", "python", "node"} }

// A File belongs to a new skill. Name is its path in the skill's folder.
type File struct {
	Name string
	Data []byte
	Mode fs.FileMode
}

// Files returns the files of a new skill, sorted by name. The error is about the
// name or the language.
func Files(name, language string) ([]File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("there is no template for %q; write one of %s", language, strings.Join(Languages(), ", "))
	}
	var files []File
	folder := path.Join("templates", language)
	err := fs.WalkDir(templates, folder, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := templates.ReadFile(at)
		if err != nil {
			return err
		}
		file := File{Name: strings.TrimSuffix(strings.TrimPrefix(at, folder+"/"), templateEnding), Mode: 0o644}
		if strings.HasPrefix(file.Name, "scripts/") {
			file.Mode = 0o755
		}
		file.Data = []byte(strings.ReplaceAll(string(data), nameMark, name))
		files = append(files, file)
		return nil
	})
	return files, err
}

func checkName(name string) error {
	if check.IsName(name) {
		return nil
	}
	if normal := check.Normalize(name); normal != "" {
		return fmt.Errorf("%q is not a skill's name; write %s", name, normal)
	}
	return fmt.Errorf("%q is not a skill's name; use at most 64 of a-z, 0-9 and single hyphens between them", name)
}

// Write creates a new skill in the folder name of dir and returns its files. It
// creates dir if it is missing. It overwrites nothing: the error is [fs.ErrExist]
// if the name exists. After an error nothing of the skill remains.
func Write(dir, name, language string) (files []File, err error) {
	if files, err = Files(name, language); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	folder := filepath.Join(dir, name)
	if err := os.Mkdir(folder, 0o777); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder)) // nobody else has written to it yet
		}
	}()
	for _, file := range files {
		at := filepath.Join(folder, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, file.Data, file.Mode); err != nil {
			return nil, err
		}
	}
	return files, nil
}
