package config

import (
	"errors"
	"net/url"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
)

// Install configures how skills are installed from elsewhere.
type Install struct {
	// ClawHub is the URL of the registry that clawhub:SLUG means; "" is the public one.
	ClawHub string        `yaml:"clawhub"`
	Limits  InstallLimits `yaml:"limits"`
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
