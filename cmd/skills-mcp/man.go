//go:build man

package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// addManual adds the command that writes a manual page for each command to a folder, for
// releases. It is not in the program that people have, which would be larger by its
// Markdown parser.
func addManual(root *cobra.Command) {
	root.AddCommand(&cobra.Command{
		Use:    "man DIR SECONDS",
		Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			seconds, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return err
			}
			day := time.Unix(seconds, 0).UTC()
			root.DisableAutoGenTag = true
			preformat(root)
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &day, Source: "skills-mcp", Manual: "skills-mcp"}, args[0])
		},
	})
}

// preformat makes the indented lines of texts code blocks, whose columns are kept.
func preformat(cmd *cobra.Command) {
	var out []string
	block := false
	for line := range strings.SplitSeq(cmd.Long, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != block && line != "" {
			out, block = append(out, ""), indented
		}
		if indented {
			line = "  " + line
		}
		out = append(out, line)
	}
	cmd.Long = strings.Join(out, "\n")
	for _, sub := range cmd.Commands() {
		preformat(sub)
	}
}
