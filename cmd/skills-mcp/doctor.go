package main

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON, registry bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works here and what does not, and how to fix it",
		Long: `Look at everything that skills need: the configuration, the folders they are
found in, the workspace, the Docker engine with its images, and the native
sandbox, in which a tiny command is run as a skill would be. Nothing is pulled:
where an image is not there, --registry asks the registry whether it can be had.
Exits with 1 when skills cannot be run.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, catalog, err := a.catalog(cmd.Context())
			if err != nil {
				return err
			}
			sections, err := s.diagnose(cmd.Context(), catalog, registry)
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
	cmd.Flags().BoolVar(&registry, "registry", false, "ask registries whether images that are not there can be had")
	a.exposeFlag(cmd)
	return cmd
}

// section is a part of doctor's report.
type section struct {
	Name     string            `json:"name"`
	Findings []sandbox.Finding `json:"findings"`
	outcome  outcome
}

// An outcome is that of a command which was tried in a driver's sandbox.
type outcome int

const (
	unavailable outcome = iota // the driver has no sandbox to offer
	untried                    // its image would have to be pulled
	failed                     // the driver has a sandbox, and no other is tried
	ran
)

// works reports whether nothing of the section failed.
func (s section) works() bool {
	for _, f := range s.Findings {
		if f.Level == sandbox.LevelFailed {
			return false
		}
	}
	return true
}

func (s *settings) diagnose(ctx context.Context, catalog *skills.Catalog, registry bool) ([]section, error) {
	s.single = true
	sections := []section{
		{Name: "skills-mcp", Findings: s.checkSetup()},
		{Name: "skills", Findings: append(s.checkSkills(catalog), s.checkExposed(s.exposed(ctx, catalog))...)},
	}
	if s.Sandbox.Driver != "native" {
		d := s.docker()
		tried, err := s.tryDriver(ctx, d, section{Name: "docker", Findings: checkDocker(ctx, d, registry)})
		if err != nil {
			return nil, err
		}
		sections = append(sections, tried)
	}
	if s.Sandbox.Driver != "docker" {
		d := s.native()
		tried, err := s.tryDriver(ctx, d, section{Name: "native", Findings: d.Check(ctx)})
		if err != nil {
			return nil, err
		}
		sections = append(sections, tried)
	}
	return append(sections, section{Name: "verdict", Findings: []sandbox.Finding{verdict(s.Sandbox.Driver, sections)}}), nil
}

// checkDocker checks an engine and, if asked to, the registries of images that it
// does not have.
func checkDocker(ctx context.Context, d *docker.Driver, registry bool) []sandbox.Finding {
	findings := d.Check(ctx)
	for i, f := range findings {
		if role, image := strings.CutPrefix(f.Subject, "image "); image && registry && f.Level == sandbox.LevelWarning {
			findings[i] = d.CheckRegistry(ctx, role)
		}
	}
	return findings
}

// trial is the subject of the finding of the command that was tried.
const trial = "a command"

// tryDriver adds to the findings of a driver's check whether a command runs in its
// sandbox, from a snapshot and with the workspaces, as a skill's does. It closes the
// driver.
func (s *settings) tryDriver(ctx context.Context, driver sandbox.Driver, checked section) (tried section, err error) {
	runner := sandbox.New(driver, &sandbox.Options{Limits: s.Limits()})
	defer func() { err = errors.Join(err, runner.Close()) }()
	if checked.Findings[0].Level == sandbox.LevelFailed { // no engine, or no namespaces
		return checked, nil
	}
	image := slices.IndexFunc(checked.Findings, func(f sandbox.Finding) bool { return f.Subject == "image default" && f.Level != sandbox.LevelOK })
	switch {
	case image < 0:
		var found sandbox.Finding
		found, checked.outcome = s.tryCommand(ctx, runner)
		checked.Findings = append(checked.Findings, found)
	case checked.Findings[image].Level == sandbox.LevelWarning:
		checked.outcome = untried
		checked.Findings = append(checked.Findings, sandbox.Finding{
			Subject: trial, Level: sandbox.LevelWarning, Detail: "not tried, as its image is not there",
			Remedy: "pull the image, or ask whether it can be had: skills-mcp doctor --registry",
		})
	}
	return checked, nil
}

func (s *settings) tryCommand(ctx context.Context, runner *sandbox.Runner) (sandbox.Finding, outcome) {
	found := sandbox.Finding{Subject: trial, Level: sandbox.LevelFailed}
	snapshots, err := s.snapshots()
	if err != nil {
		found.Detail = err.Error()
		return found, failed
	}
	snap, err := snapshots.Take(ctx, &zip.Reader{}, snapshot.Use{}) // a folder without files
	if err != nil {
		found.Detail, found.Remedy = "a skill's folder cannot be copied to the cache: "+err.Error(), cacheRemedy
		return found, failed
	}
	result, err := runner.Run(ctx, sandbox.Command{
		RunID: "doctor-" + strings.ToLower(rand.Text()), Skill: "doctor", Argv: []string{"true"}, Folder: snap.Dir,
		Grant: sandbox.Grant{Workspaces: s.workspaces}, Limits: sandbox.Limits{Timeout: 10 * time.Second}, Warm: -1,
	})
	var none *sandbox.UnavailableError
	switch {
	case errors.As(err, &none):
		found.Detail, found.Remedy = none.Reason, none.Remedy
		return found, unavailable
	case err != nil:
		found.Detail = err.Error()
		return found, failed
	case result.Exit.Code != 0:
		found.Detail = fmt.Sprintf("true ended with %d: %s", result.Exit.Code, flat(string(result.Stderr.Head)))
		return found, failed
	}
	return ok(trial, "ran in %s", result.Exit.Sandbox), ran
}

// cacheRemedy helps where snapshots of skills cannot be written.
const cacheRemedy = "set XDG_CACHE_HOME to a folder that can be written"

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
	for _, p := range s.problems {
		findings = append(findings, sandbox.Finding{Subject: "project", Level: sandbox.LevelWarning, Detail: flat(p.Path + ": " + p.Message), Remedy: p.Remedy})
	}
	if s.project != nil {
		findings = append(findings, ok("project", "%s", filepath.Join(s.workspaces[0], config.ProjectFile)))
	}
	for _, w := range s.workspaces {
		found := ok("workspace", "%s", w)
		if note := unwritable(w, os.Getuid()); note != "" {
			found.Level = sandbox.LevelWarning
			found.Detail += ", which skills can only read"
			found.Remedy = note
		}
		findings = append(findings, found)
	}
	findings = append(findings, ok("network", "%s", s.network()))
	store, err := s.cacheDir()
	if err == nil {
		err = writable(filepath.Join(store, "snapshots"))
	}
	if err != nil {
		return append(findings, sandbox.Finding{Subject: "cache", Level: sandbox.LevelFailed, Detail: err.Error(), Remedy: cacheRemedy})
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
		} else if root.Source == skills.SourceExtra {
			findings = append(findings, sandbox.Finding{
				Subject: string(root.Source), Level: sandbox.LevelWarning, Detail: root.Dir + " does not exist",
				Remedy: "make the folder, or correct --skills, --plugins or the configuration",
			})
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
	for _, p := range catalog.Taken() {
		findings = append(findings, sandbox.Finding{Subject: "hidden", Level: sandbox.LevelWarning, Detail: flat(p.Path + ": " + p.Message), Remedy: flat(p.Remedy)})
	}
	return findings
}

// verdict says which driver will run skills: as a call does, it goes on to the next
// one only where the first has no sandbox to offer. None does without a cache.
func verdict(driver string, sections []section) sandbox.Finding {
	found := sandbox.Finding{
		Subject: "skills run in", Level: sandbox.LevelFailed, Detail: "nothing: instructions are served, but no script can run (driver: " + driver + ")",
		Remedy: "fix what failed above",
	}
	if !sections[0].works() {
		return found
	}
	first := "" // a sandbox that may come before it
	for _, s := range sections[2:] {
		switch {
		case s.outcome == untried:
			first = s.Name + ", if the first call can pull its image"
		case s.outcome == ran && s.works():
			return ok("skills run in", "%s", strings.TrimPrefix(first+"; else "+s.Name, "; else "))
		case s.outcome == ran:
			found.Detail = s.Name + ", without what failed above"
			return found
		case s.outcome == failed && first == "":
			return found
		}
	}
	if first != "" {
		found.Level, found.Detail, found.Remedy = sandbox.LevelWarning, first, "see the image above"
	}
	return found
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
