package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"
)

// ProjectFile is the name of a workspace's own configuration file.
const ProjectFile = ".skills-mcp.yaml"

// A Project is the content of a workspace's own file. A stranger may have written
// it, so it can name folders of the workspace and nothing else: the person alone
// decides which files skills see and where they run.
type Project struct {
	Skills  []string `yaml:"skills"`
	Plugins []string `yaml:"plugins"`
}

// ParseProject decodes the file of the workspace dir. Its paths become absolute.
func ParseProject(data []byte, dir string) (*Project, error) {
	file := filepath.Join(dir, ProjectFile)
	p := &Project{}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, explainProject(err))
	}
	for _, paths := range [][]string{p.Skills, p.Plugins} {
		for i, path := range paths {
			if !filepath.IsLocal(path) {
				return nil, fmt.Errorf("%s: %q is not in the workspace; name it with --skills or --plugins", file, path)
			}
			paths[i] = filepath.Join(dir, path)
		}
	}
	return p, nil
}

// explainProject explains a decoding error; for a key of [Config] it names the file
// where that belongs.
func explainProject(err error) error {
	var typeError *yaml.TypeError
	if errors.As(err, &typeError) {
		for _, line := range typeError.Errors {
			m := unknownField.FindStringSubmatch(line)
			if m != nil && slices.Contains(keys(reflect.TypeFor[Config](), "config.Config"), m[2]) {
				return fmt.Errorf("line %s: %q cannot be set by a workspace's own file, only by yours; set it in the user's configuration, or name this file with --config if you trust it", m[1], m[2])
			}
		}
	}
	return explain(err, reflect.TypeFor[Project]())
}
