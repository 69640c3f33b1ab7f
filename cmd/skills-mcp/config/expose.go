package config

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/exposure"
)

// Expose says which skills are tools of their own.
type Expose struct {
	Mode         string   `yaml:"mode"`          // auto, all or search
	MaxTools     int      `yaml:"max_tools"`     // in auto
	CatalogChars int      `yaml:"catalog_chars"` // of all descriptions together, in auto
	Pin          []string `yaml:"pin"`           // names and patterns of skills that come first
}

func (e Expose) validate() error {
	if !slices.Contains(exposure.Modes(), e.Mode) {
		return fmt.Errorf("expose.mode is %q; write one of %s", e.Mode, strings.Join(exposure.Modes(), ", "))
	}
	for _, pattern := range e.Pin {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("expose.pin has %q; write the name of a skill, or a pattern such as plugin/*", pattern)
		}
	}
	return nil
}

// Options are those of the configuration, for the server.
func (e Expose) Options() exposure.Options {
	return exposure.Options{Mode: exposure.Mode(e.Mode), MaxTools: e.MaxTools, Chars: e.CatalogChars, Pin: e.Pin}
}
