package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/spf13/cobra"
)

// app holds the streams and the flags of all commands. Nothing is set up before a
// command asks for it.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	// state and recorder belong to the settings; nil before these are read. close closes them.
	state    *store.Store
	recorder *audit.Recorder

	passphrase string      // the hash of the settings; "" is none
	agent      *seal.Agent // signs for whom the terminal, or a token, has proved

	flags               setup.Flags
	logLevel, logFormat string // flags
}

// close closes the record and the store that a command used, if any.
func (a *app) close() {
	if a.recorder != nil {
		a.recorder.Close()
	}
	if a.state == nil {
		return
	}
	if err := a.state.Close(); err != nil {
		fmt.Fprintln(a.stderr, "skills-mcp: close the store:", err)
	}
}

// register adds the flags of all commands.
func (a *app) register(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.flags.Config, "config", "", "configuration `FILE` (default: config.yaml in the user's configuration folder)")
	f.StringArrayVar(&a.flags.Skills, "skills", nil, "also find skills in `DIR`, or DIR itself if it is one; or a ZIP or tar.gz file with one (repeatable)")
	f.StringArrayVar(&a.flags.Plugins, "plugins", nil, "also find plugins in `DIR`, or DIR itself if it is one (repeatable)")
	f.StringArrayVar(&a.flags.Workspaces, "workspace", nil, "let skills see the files in `DIR` (repeatable; default: the current folder, where it is a project's)")
	f.StringVar(&a.flags.Sandbox, "sandbox", "", "run skills with `DRIVER`: auto, docker, native or kubernetes (default auto)")
	f.StringVar(&a.logLevel, "log-level", "warn", "log from `LEVEL` up: debug, info, warn or error")
	f.StringVar(&a.logFormat, "log-format", "text", "log in `FORMAT`: text or json")
	complete(root, "sandbox", config.Drivers())
	complete(root, "log-level", []string{"debug", "info", "warn", "error"})
	complete(root, "log-format", []string{"text", "json"})
}

func (a *app) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return nil, exitcode.Usage(fmt.Errorf("--log-level is %q; write one of debug, info, warn, error", a.logLevel))
	}
	options := &slog.HandlerOptions{Level: level}
	switch a.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(a.stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(a.stderr, options)), nil
	}
	return nil, exitcode.Usage(fmt.Errorf("--log-format is %q; write text or json", a.logFormat))
}

// printJSON writes a value for machines.
func (a *app) printJSON(value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(a.stdout, terminal.EscapeJSON(text.String()))
	return err
}

// A listing is the output of a command that lists things, as JSON or as a table.
type listing[T any] struct {
	key      string         // of the list in JSON
	none     string         // for the person where it is empty
	headings string         // of the table, separated by tabs
	row      func(T) string // its cells, separated by tabs
	optional []string       // headings of columns that a narrow terminal goes without
}

// print prints a list: as JSON, or as a table.
func (l listing[T]) print(a *app, asJSON bool, list []T) error {
	switch {
	case asJSON:
		return a.printJSON(map[string]any{l.key: append([]T{}, list...)})
	case len(list) == 0 && l.none != "":
		_, err := fmt.Fprintln(a.stderr, l.none)
		return err
	}
	return terminal.Columns(a.stdout, func(w io.Writer) {
		fmt.Fprintln(w, l.headings)
		for _, one := range list {
			fmt.Fprintln(w, l.row(one))
		}
	}, l.optional...)
}

// hintProblems prints why skills did not load: somebody may miss one.
func (a *app) hintProblems(catalog *skills.Catalog) {
	for _, p := range catalog.Problems {
		if p.Severity == skills.Error {
			fmt.Fprintln(a.stderr, p)
		}
	}
}

// exposeFlag adds --expose to a command that serves or that describes serving.
func (a *app) exposeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.flags.Expose, "expose", "", "make skills tools by `MODE`: auto, all or search (default auto)")
	complete(cmd, "expose", exposure.Modes())
}

// complete adds shell completion for the values of a flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	completeBy(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeBy adds shell completion by a function for the values of a flag.
func completeBy(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	// It fails only for a flag that the command does not have.
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err)
	}
}
