package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works here and what does not, and how to mend it",
		Long: `Look at everything that skills need: the configuration, the folders they are
found in, the workspace, the Docker engine with its images, and the native
sandbox. Nothing is changed. Exits with 1 when skills cannot be run.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, catalog, err := a.catalog(cmd.Context())
			if err != nil {
				return err
			}
			sections, err := s.diagnose(cmd.Context(), catalog)
			if err != nil {
				return err
			}
			if asJSON {
				if err := a.printJSON(sections); err != nil {
					return err
				}
			} else {
				a.printSections(sections)
			}
			if !runs(sections) {
				return &exitError{exitFailed, nil}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	a.exposeFlag(cmd)
	return cmd
}

// section is a part of doctor's report.
type section struct {
	Name     string            `json:"name"`
	Findings []sandbox.Finding `json:"findings"`
}

// works reports whether nothing of the section failed.
func (s section) works() bool {
	for _, f := range s.Findings {
		if f.Level == sandbox.LevelFailed {
			return false
		}
	}
	return true
}

func (s *settings) diagnose(ctx context.Context, catalog *skills.Catalog) ([]section, error) {
	sections := []section{
		{"skills-mcp", s.checkSetup()},
		{"skills", append(s.checkSkills(catalog), s.checkExposed(s.exposed(ctx, catalog))...)},
	}
	if s.Sandbox.Driver != "native" {
		d := s.docker()
		sections = append(sections, section{"docker", d.Check(ctx)})
		if err := d.Close(); err != nil {
			return nil, err
		}
	}
	if s.Sandbox.Driver != "docker" {
		d := s.native()
		sections = append(sections, section{"native", d.Check(ctx)})
		if err := d.Close(); err != nil {
			return nil, err
		}
	}
	return append(sections, section{"verdict", []sandbox.Finding{verdict(s.Sandbox.Driver, sections)}}), nil
}

func ok(subject, format string, args ...any) sandbox.Finding {
	return sandbox.Finding{Subject: subject, Level: sandbox.LevelOK, Detail: fmt.Sprintf(format, args...)}
}

func (s *settings) checkSetup() []sandbox.Finding {
	findings := []sandbox.Finding{
		ok("version", "%s", readBuilt().Version),
		ok("configuration", "%s", cmp.Or(s.File, "none; the defaults hold")),
	}
	if len(s.workspaces) == 0 {
		findings = append(findings, sandbox.Finding{
			Subject: "workspace", Level: sandbox.LevelWarning, Detail: "none, so skills see no files of yours",
			Remedy: "start it in a project's folder, or add --workspace DIR",
		})
	}
	if s.project != nil {
		findings = append(findings, ok("project", "%s", filepath.Join(s.workspaces[0], config.ProjectFile)))
	}
	for _, w := range s.workspaces {
		findings = append(findings, ok("workspace", "%s", w))
	}
	findings = append(findings, ok("network", "%s", s.network()))
	store, err := s.cacheDir()
	if err == nil {
		err = writable(store)
	}
	if err != nil {
		return append(findings, sandbox.Finding{Subject: "cache", Level: sandbox.LevelFailed, Detail: err.Error(), Remedy: "set XDG_CACHE_HOME to a folder that can be written"})
	}
	return append(findings, ok("cache", "%s", store))
}

// network names what skills may connect to.
func (s *settings) network() string {
	var hosts []string
	for _, rule := range s.Hosts() {
		hosts = append(hosts, rule.String())
	}
	if len(hosts) == 0 {
		return "none for skills"
	}
	return "granted to skills that declare it: " + strings.Join(hosts, ", ")
}

// writable checks that files can be made in dir, or in the folder that it would
// be made in.
func writable(dir string) error {
	for {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	file, err := os.CreateTemp(dir, ".skills-mcp-")
	if err != nil {
		return err
	}
	file.Close()
	return os.Remove(file.Name())
}

func (s *settings) checkSkills(catalog *skills.Catalog) []sandbox.Finding {
	var findings []sandbox.Finding
	for _, root := range s.roots() {
		kind := "skills"
		switch {
		case root.Plugins:
			kind = "plugins"
		case root.Commands:
			kind = "commands"
		case root.Agents:
			kind = "agents"
		}
		if root.Dir == "" {
			findings = append(findings, ok(string(root.Source), "%s", root.Label))
			continue
		}
		if _, err := os.Stat(root.Dir); err == nil {
			findings = append(findings, ok(string(root.Source), "%s in %s", kind, root.Dir))
		}
	}
	findings = append(findings, ok("found", "%s, %s", count(catalog.Count(), "skill"), count(len(catalog.Plugins), "plugin")))
	findings = append(findings, s.checkWatches())
	for _, p := range catalog.Problems {
		if p.Severity == skills.Error {
			where := p.Path
			if p.Line > 0 {
				where = fmt.Sprintf("%s:%d", where, p.Line)
			}
			findings = append(findings, sandbox.Finding{Subject: "problem", Level: sandbox.LevelWarning, Detail: flat(where + ": " + p.Message), Remedy: flat(p.Remedy)})
		}
	}
	return findings
}

// verdict says which driver will run skills.
func verdict(driver string, sections []section) sandbox.Finding {
	for _, s := range sections {
		if (s.Name == "docker" || s.Name == "native") && s.works() {
			return ok("skills run in", "%s", s.Name)
		}
	}
	return sandbox.Finding{
		Subject: "skills run in", Level: sandbox.LevelFailed, Detail: "nothing: instructions are served, but no script can run (driver: " + driver + ")",
		Remedy: "mend what failed above",
	}
}

func runs(sections []section) bool { return sections[len(sections)-1].works() }

func (a *app) printSections(sections []section) {
	marks := map[sandbox.Level]string{sandbox.LevelOK: "ok  ", sandbox.LevelWarning: "warn", sandbox.LevelFailed: "FAIL"}
	for i, s := range sections {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		fmt.Fprintln(a.stdout, s.Name)
		_ = table(a.stdout, func(w io.Writer) {
			for _, f := range s.Findings {
				line := f.Detail
				if f.Remedy != "" {
					line += " → " + f.Remedy
				}
				fmt.Fprintf(w, "  %s\t%s\t%s\n", marks[f.Level], f.Subject, strings.ReplaceAll(line, "\n", " "))
			}
		})
	}
}
