package config

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"gopkg.in/yaml.v3"
)

// Install configures how skills are installed from elsewhere.
type Install struct {
	// ClawHub is the URL of the registry that clawhub:SLUG means; "" is the public one.
	ClawHub string        `yaml:"clawhub"`
	Limits  InstallLimits `yaml:"limits"`
	// Sources are installed when a server starts, and again each Refresh.
	Sources []InstallSource `yaml:"sources"`
	Refresh time.Duration   `yaml:"refresh"`
}

// An InstallSource is written as [source.Parse] reads it, but is no path.
type InstallSource struct{ source.Source }

// UnmarshalYAML reads a source.
func (s *InstallSource) UnmarshalYAML(node *yaml.Node) (err error) {
	s.Source, err = source.Parse(node.Value, "/")
	if err == nil && (s.Kind == source.Folder || s.Kind == source.Archive) {
		err = fmt.Errorf("%q is a path of this machine; name it in skills", node.Value)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	return nil
}

// InstallLimits bound what one source may have. They convert to [quarantine.Limits].
type InstallLimits struct {
	Files int  `yaml:"files"` // files, folders and links
	File  Size `yaml:"file"`  // one file
	Total Size `yaml:"total"` // all files
	Depth int  `yaml:"depth"` // folders in each other
}

// Quarantine returns the limits of a quarantine.
func (l InstallLimits) Quarantine() quarantine.Limits {
	return quarantine.Limits{Files: l.Files, File: int64(l.File), Total: int64(l.Total), Depth: l.Depth}
}

func (i Install) validate() error {
	if i.ClawHub == "" {
		return nil
	}
	u, err := url.Parse(i.ClawHub)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return errors.New("install.clawhub is no URL of a registry; write one such as https://clawhub.ai")
	}
	return nil
}
