// Package colonysamples carries the colony-samples plugin inside the binary:
// three sample skills that show what a plugin looks like and are useful by
// themselves. They are data, loaded like any other plugin. Start with [FS].
package colonysamples

import (
	"embed"
	"io/fs"
)

// all: is needed because names that begin with a dot are left out otherwise.
// Tests and fixtures are no part of the plugin and stay outside.
//
//go:embed all:.claude-plugin all:skills
var files embed.FS

// FS returns the plugin's root folder, read-only: .claude-plugin/plugin.json
// and skills/<name>/SKILL.md with their scripts and references.
func FS() fs.FS { return files }
