package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/server"
)

// versionCommand prints how the program was built.
type versionCommand struct {
	*app
	json bool
}

func newVersionCommand(a *app) *cobra.Command {
	c := &versionCommand{app: a}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit and the protocol revisions",
		Example: "  skills-mcp version --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return c.run() },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	return cmd
}

func (c *versionCommand) run() error {
	if c.json {
		return c.printJSON(readBuilt())
	}
	_, err := fmt.Fprint(c.stdout, readBuilt())
	return err
}

// built has the build information of this binary.
type built struct {
	Version   string   `json:"version"`
	Commit    string   `json:"commit,omitempty"`
	Modified  bool     `json:"modified,omitempty"`
	Go        string   `json:"go"`
	Platform  string   `json:"platform"`
	Protocols []string `json:"protocols"`
}

func readBuilt() built {
	b := built{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Protocols: server.ProtocolVersions()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns the lines that version and --version print.
func (b built) String() string {
	return fmt.Sprintf("skills-mcp %s\ncommit     %s\nbuilt with %s for %s\nprotocols  %v\n",
		b.Version, cmp.Or(b.Commit, "unknown"), b.Go, b.Platform, joinWords(b.Protocols))
}
