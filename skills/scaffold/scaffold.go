// Package scaffold makes a new skill to begin with: a SKILL.md with typed
// parameters and a script that reads them, which runs as it is. Start with
// [Write].
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

// templateEnding ends the name of a template that would be taken for a skill
// without it, in a checkout of this repository.
const templateEnding = ".tmpl"

// nameMark stands for the skill's name in the templates.
const nameMark = "{{NAME}}"

// Languages returns what the script of a new skill may be written in.
func Languages() []string { return []string{"bash", "python", "node"} }

// A File is one of a new skill. Name is its path in the skill's folder.
type File struct {
	Name string
	Data []byte
	Mode fs.FileMode
}

// Files returns the files of a new skill, sorted by name. The error says what is
// wrong with the name or the language.
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

// Write makes a new skill in the folder name of dir, which is made when needed,
// and returns its files. Nothing is overwritten: the error is [fs.ErrExist] where
// there is anything of that name. With an error nothing of the skill is left behind.
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
			err = errors.Join(err, os.RemoveAll(folder)) // which nobody else has written to yet
		}
	}()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, file := range files {
		if err := write(root, file); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func write(root *os.Root, file File) error {
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(file.Name)), 0o777); err != nil {
		return err
	}
	out, err := root.OpenFile(filepath.FromSlash(file.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, file.Mode)
	if err != nil {
		return err
	}
	_, err = out.Write(file.Data)
	return errors.Join(err, out.Close())
}
