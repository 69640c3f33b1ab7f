// Package build returns the version, the commit and the platform of this binary. Start with [Read].
package build

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/skillsmcp/skills-mcp/server"
)

// version is the release's, such as v1.2.3, which its build passes to the linker. Go
// derives a version from the tag itself, unless it is built with -buildvcs=false.
var version string

// Info has the build information of this binary.
type Info struct {
	Version   string   `json:"version"`
	Commit    string   `json:"commit,omitempty"`
	Modified  bool     `json:"modified,omitempty"`
	Go        string   `json:"go"`
	Tags      string   `json:"tags,omitempty"` // of the build, such as cluster
	Platform  string   `json:"platform"`
	Protocols []string `json:"protocols"`
}

// Read returns the build information of this binary.
func Read() Info {
	b := Info{Version: cmp.Or(version, "devel"), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Protocols: server.ProtocolVersions()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags":
			b.Tags = s.Value
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns the lines that version and --version print.
func (b Info) String() string {
	with := b.Go
	if b.Tags != "" {
		with += " -tags " + b.Tags
	}
	return fmt.Sprintf("skills-mcp %s\ncommit     %s\nbuilt with %s for %s\nprotocols  %v\n",
		b.Version, cmp.Or(b.Commit, "unknown"), with, b.Platform, strings.Join(b.Protocols, " "))
}
