// Package diagnosis checks the settings, the skills and the sandboxes of this machine, and says
// how to fix what does not work.
//
// Start with [Sections].
package diagnosis

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connect"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillshost"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
	scanned "github.com/skillsmcp/skills-mcp/skills/verdict"
	"github.com/skillsmcp/skills-mcp/skills/watch"
)

// A Section is a part of doctor's report.
type Section struct {
	Name     string            `json:"name"`
	Findings []sandbox.Finding `json:"findings"`
	outcome  outcome
}

// An outcome is the result of a test command in a driver's sandbox.
type outcome int

const (
	unavailable outcome = iota // the driver has no sandbox to offer
	untried                    // its image would have to be pulled
	failed                     // the driver has a sandbox, and no other is tried
	ran
)

// Works reports whether nothing of the section failed.
func (s Section) Works() bool {
	for _, f := range s.Findings {
		if f.Level == sandbox.LevelFailed {
			return false
		}
	}
	return true
}

// A diagnosis checks settings, the skills that they find, and their sandboxes.
type diagnosis struct {
	settings *setup.Settings
	catalog  *skills.Catalog
}

// Sections returns the checks of each subject, and a verdict last. Registries are not asked.
func Sections(ctx context.Context, s *setup.Settings, catalog *skills.Catalog) ([]Section, error) {
	d := &diagnosis{s, catalog}
	sections := []Section{
		{Name: "skills-mcp", Findings: append(d.checkSetup(), d.checkForms()...)},
		{Name: "skills", Findings: slices.Concat(d.checkSkills(), d.checkScan(ctx), d.checkSecrets(), d.checkExposed(s.Exposed(ctx, catalog)))},
	}
	drivers := []string{d.settings.Sandbox.Driver}
	if drivers[0] == "auto" {
		drivers = []string{"docker", "native"}
	}
	for _, name := range drivers {
		tried, err := d.tryDriver(ctx, name)
		if err != nil {
			return nil, err
		}
		sections = append(sections, tried)
	}
	if found := checkServing(ctx, d.settings); len(found) > 0 {
		sections = append(sections, Section{Name: "serve", Findings: found})
	}
	if found := checkAgents(s, catalog); len(found) > 0 {
		sections = append(sections, Section{Name: "agents", Findings: found})
	}
	return append(sections, Section{Name: "verdict", Findings: []sandbox.Finding{verdict(d.settings.Sandbox.Driver, sections)}}), nil
}

// trial is the subject of the finding about the test command.
const trial = "a command"

// tryDriver checks a driver, and whether a command runs in its sandbox, from a snapshot
// and with the workspaces, as a skill's does.
func (d *diagnosis) tryDriver(ctx context.Context, name string) (checked Section, err error) {
	driver := d.settings.Sandboxes.Named(name)
	checked.Name, checked.Findings = name, driver.Check(ctx)
	runner := sandbox.New(driver, &sandbox.Options{Limits: d.settings.Limits()})
	defer func() { err = errors.Join(err, runner.Close()) }()
	if checked.Findings[0].Level == sandbox.LevelFailed { // no engine, or no namespaces
		return checked, nil
	}
	image := slices.IndexFunc(checked.Findings, func(f sandbox.Finding) bool { return f.Subject == "image default" && f.Level != sandbox.LevelOK })
	switch {
	case image < 0:
		var found sandbox.Finding
		found, checked.outcome = d.tryCommand(ctx, runner)
		checked.Findings = append(checked.Findings, found)
	case checked.Findings[image].Level == sandbox.LevelWarning:
		checked.outcome = untried
		checked.Findings = append(checked.Findings, sandbox.Warning(trial, "not tried, as its image is not there",
			"pull the image with: skills-mcp image pull default"))
	}
	return checked, nil
}

func (d *diagnosis) tryCommand(ctx context.Context, runner *sandbox.Runner) (sandbox.Finding, outcome) {
	snapshots, err := setup.OpenSnapshots()
	if err != nil {
		return sandbox.FailedBy(trial, err), failed
	}
	snap, err := snapshots.Take(ctx, &zip.Reader{}, snapshot.Use{}) // a folder without files
	if err != nil {
		return sandbox.Failed(trial, "a skill's folder cannot be copied to the cache: "+err.Error(), cacheRemedy), failed
	}
	result, err := runner.Run(ctx, sandbox.Command{
		RunID: "doctor-" + strings.ToLower(rand.Text()), Skill: "doctor", Argv: []string{"true"}, Folder: snap.Dir,
		Grant: sandbox.Grant{Workspaces: d.settings.Workspaces.Folders}, Limits: sandbox.Limits{Timeout: 10 * time.Second}, Warm: -1,
	})
	if _, none := errors.AsType[*sandbox.UnavailableError](err); none {
		return sandbox.FailedBy(trial, err), unavailable
	}
	if err != nil {
		return sandbox.FailedBy(trial, err), failed
	}
	if result.Exit.Code != 0 {
		return sandbox.Failed(trial, fmt.Sprintf("true ended with %d: %s", result.Exit.Code, plain.Flat(string(result.Stderr.Head))), ""), failed
	}
	return sandbox.OK(trial, "ran in %s", result.Exit.Sandbox), ran
}

// cacheRemedy is the remedy for a cache folder that cannot be written.
const cacheRemedy = "set XDG_CACHE_HOME to a folder that can be written"

// problem returns the warning about a file.
func problem(subject string, p skills.Problem) sandbox.Finding {
	where := p.Path
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, p.Line)
	}
	return sandbox.Warning(subject, plain.Flat(where+": "+p.Message), plain.Flat(p.Remedy))
}

func (d *diagnosis) checkSetup() []sandbox.Finding {
	findings := []sandbox.Finding{
		sandbox.OK("version", "%s", build.Read().Version),
		sandbox.OK("configuration", "%s", cmp.Or(d.settings.File, "none; the defaults hold")),
	}
	if len(d.settings.Workspaces.Folders) == 0 {
		findings = append(findings, sandbox.Warning("workspace", "none, so skills see no files of yours: "+d.settings.Workspaces.None, "start it in a project's folder, or add --workspace DIR"))
	}
	for _, p := range d.settings.Workspaces.Problems {
		findings = append(findings, problem("project", p))
	}
	if d.settings.Workspaces.Project != nil {
		findings = append(findings, sandbox.OK("project", "%s", filepath.Join(d.settings.Workspaces.Folders[0], config.ProjectFile)))
	}
	for _, w := range d.settings.Workspaces.Folders {
		found := sandbox.OK("workspace", "%s", w)
		if note := setup.Restricted(w, os.Getuid(), true); note != "" {
			found = sandbox.Warning("workspace", w, note)
		}
		findings = append(findings, found)
	}
	findings = append(findings, d.checkTrust()...)
	findings = append(findings, d.checkRecord(), sandbox.OK("policy", "%s", d.policy()), sandbox.OK("network", "%s", d.network()))
	store, err := setup.CacheDir()
	if err == nil {
		err = setup.Writable(filepath.Join(store, "snapshots"))
	}
	if err != nil {
		return append(findings, sandbox.Failed("cache", err.Error(), cacheRemedy))
	}
	return append(findings, sandbox.OK("cache", "%s", store))
}

// checkRecord checks the file of the record and of the person's decisions. A broken one
// is a warning: skills that need no confirmation run without it.
func (d *diagnosis) checkRecord() sandbox.Finding {
	if s := d.settings.Store; s.Shared() {
		if err := s.Check(context.Background()); err != nil {
			return sandbox.Failed("record", err.Error(), "nothing that needs a decision runs until the database answers: start it, or correct the setting store")
		}
		return sandbox.OK("record", "%s, shared with other servers", s.Name())
	}
	file := d.settings.Store.File()
	for _, w := range d.settings.Workspaces.Folders {
		if file != "" && setup.Lies(filepath.Dir(file), w) {
			return sandbox.Warning("record", fmt.Sprintf("%s is in the workspace %s, so skills that may write there can change it", file, w), "name a narrower workspace, or set XDG_STATE_HOME to a folder outside of it")
		}
	}
	var err error
	if d.settings.Store.Exists() {
		err = d.settings.Store.Check(context.Background())
	} else if file != "" {
		err = setup.Writable(filepath.Dir(file))
	}
	switch info, missing := os.Stat(file); {
	case file == "":
		return sandbox.Warning("record", "none, so no skill runs that needs your confirmation", "set HOME, or XDG_STATE_HOME to a folder that can be written")
	case err != nil:
		return sandbox.Warning("record", err.Error(), "skills that need your confirmation do not run until it can be written")
	case missing != nil:
		return sandbox.OK("record", "%s, once there are runs", file)
	default:
		return sandbox.OK("record", "%s, %s of at most %s", file, sandbox.Bytes(info.Size()), sandbox.Bytes(int64(d.settings.Record.Max)))
	}
}

// checkForms names the settings of clients with which programs answer forms.
func (d *diagnosis) checkForms() (findings []sandbox.Finding) {
	if d.settings.Policy.Forms == config.Forms(approval.FormsNever) {
		return nil
	}
	for _, line := range connect.AnsweringHere("") {
		findings = append(findings, sandbox.Warning("forms", plain.Visible(line), "remove it, or write policy: {forms: never}: then no form says yes"))
	}
	return findings
}

// policy returns the mode, and the number of rules and profiles.
func (d *diagnosis) policy() string {
	o := d.settings.Sandboxes.Rules
	text := fmt.Sprintf("mode %s, %s of the configuration", o.Mode, plain.Count(len(o.Rules), "rule"))
	if stored := len(o.Book.Rules(context.Background())); stored > 0 {
		text += fmt.Sprintf(", %d of your commands", stored)
	}
	var names []string
	for _, p := range o.NamedProfiles(context.Background()) {
		names = append(names, p.Name)
	}
	if len(names) > 0 {
		text += ", profiles " + strings.Join(names, ", ")
	}
	return text
}

// network names the hosts that skills may connect to.
func (d *diagnosis) network() string {
	var hosts []string
	for _, rule := range d.settings.Hosts() {
		hosts = append(hosts, rule.String())
	}
	const asked = "those that a skill declares, once you have confirmed them"
	if len(hosts) == 0 {
		return asked
	}
	return asked + "; of private networks: " + strings.Join(hosts, ", ")
}

func (d *diagnosis) checkSkills() []sandbox.Finding {
	findings := d.checkRoots()
	findings = append(findings, sandbox.OK("found", "%s, %s", plain.Count(d.catalog.Count(), "skill"), plain.Count(len(d.catalog.Plugins), "plugin")))
	findings = append(findings, d.checkWatches())
	for _, p := range d.catalog.Problems {
		if p.Severity == skills.Error {
			findings = append(findings, problem("problem", p))
		}
	}
	return append(findings, d.checkPlugins()...)
}

// checkPlugins returns why servers, code and hooks of plugins do not run or have failed.
func (d *diagnosis) checkPlugins() (findings []sandbox.Finding) {
	unused, state := maps.Clone(d.settings.Plugins.Config), d.settings.View(context.Background(), d.catalog).State
	for _, s := range d.catalog.Skills {
		switch {
		case s.Of != nil:
			continue
		case s.OfHooks():
			var ids []string
			for _, tool := range s.Tools {
				ids = append(ids, tool.Entry.Hook.ID)
			}
			if slices.ContainsFunc(s.Tools, func(tool *skills.Skill) bool { return tool.Entry.Hook.Around() && state(tool) == "needs approval" }) {
				findings = append(findings, sandbox.OK("plugin", "the hooks of %s are skipped until you say yes: the next call of a client has skills-mcp approvals list the question", s.QualifiedName()))
			}
			findings = append(findings, sandbox.OK("plugin", "%s: %s", s.QualifiedName(), plain.OneLine(strings.Join(ids, ", "), 300)))
		case s.Entry == nil || s.Entry.Server == nil:
			continue
		case s.Entry.Server.Server.Code != nil:
			delete(unused, s.Entry.Server.Server.Code.ID)
		}
		if s.Unavailable != "" {
			findings = append(findings, sandbox.Warning("plugin", s.QualifiedName()+" cannot run: "+s.Unavailable, ""))
		}
		for _, p := range s.Problems {
			findings = append(findings, problem("plugin", p))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(unused)) {
		findings = append(findings, sandbox.Warning("plugin", fmt.Sprintf("plugins.config in the configuration names %q, and no plugin with code has this id", id), "correct the id, or remove it"))
	}
	return findings
}

// checkScan returns the skills in whose files the scan finds something critical.
func (d *diagnosis) checkScan(ctx context.Context) []sandbox.Finding {
	verdicts, findings := d.settings.Sandboxes.Verdicts, []sandbox.Finding{}
	if err := verdicts.ScanAll(ctx, d.catalog, runtime.GOMAXPROCS(0)); err != nil {
		findings = append(findings, sandbox.Warning("scan", err.Error(), "see that the files can be read"))
	}
	for _, s := range d.catalog.Skills {
		if found := verdicts.Known(s); s.Of == nil && scanned.Worst(found) == scanned.Critical {
			findings = append(findings, sandbox.Warning("scan", s.QualifiedName()+": "+scanned.Summary(found), "look at it with: skills-mcp scan "+s.QualifiedName()))
		}
	}
	if len(findings) == 0 {
		findings = append(findings, sandbox.OK("scan", "nothing critical in the files of the skills"))
	}
	return findings
}

// checkSecrets returns the secrets that skills ask for and do not have.
func (d *diagnosis) checkSecrets() (findings []sandbox.Finding) {
	for _, s := range d.catalog.Skills {
		for _, p := range run.SecretRequests(s, func(name string) bool { return d.settings.Gate.Has(s, name) }) {
			findings = append(findings, sandbox.OK("secret", "%s: %s; %s", s.QualifiedName(), p.Message, p.Remedy))
		}
	}
	return findings
}

// checkTrust returns which workspaces with skills are trusted.
func (d *diagnosis) checkTrust() []sandbox.Finding {
	var findings []sandbox.Finding
	for _, w := range d.settings.Workspaces.Folders {
		n := 0
		for _, s := range d.catalog.Skills {
			if s.Workspace == w && s.Of == nil {
				n++
			}
		}
		switch {
		case n == 0:
		case d.settings.Trust.Trusts(context.Background(), w):
			findings = append(findings, sandbox.OK("trust", "%s of %s, which you trust", plain.Count(n, "skill"), w))
		default:
			findings = append(findings, sandbox.OK("trust", "%s of %s, which you do not trust: granted nothing, and no name of yours", plain.Count(n, "skill"), w))
		}
	}
	return findings
}

func (d *diagnosis) checkRoots() []sandbox.Finding {
	var findings []sandbox.Finding
	for _, root := range d.settings.Roots.List() {
		kind := "skills"
		switch {
		case root.Plugins:
			kind = "plugins"
		case root.Commands:
			kind = "commands"
		case root.Agents:
			kind = "agents"
		}
		if root.Label == skillshost.Label {
			findings = append(findings, d.checkServers()...)
			continue
		}
		if root.Dir == "" {
			findings = append(findings, sandbox.OK(string(root.Source), "%s", root.Label))
			continue
		}
		if _, err := os.Stat(root.Dir); err == nil {
			findings = append(findings, sandbox.OK(string(root.Source), "%s in %s", kind, root.Dir))
		} else if root.Source == skills.SourceExtra {
			findings = append(findings, sandbox.Warning(string(root.Source), root.Dir+" does not exist", "make the folder, or correct --skills, --plugins or the configuration"))
		}
	}
	return findings
}

// checkServers returns the connected MCP servers. None is asked.
func (d *diagnosis) checkServers() []sandbox.Finding {
	servers, err := d.settings.Host.Servers(context.Background())
	if err != nil {
		return []sandbox.Finding{sandbox.Warning("servers", err.Error(), "make the folder readable for you")}
	}
	var findings []sandbox.Finding
	for _, s := range servers {
		findings = append(findings, sandbox.OK("server", "%s, with %s, at %s", s.Label, plain.Count(d.settings.Host.Count(s.Label), "skill"), plain.Visible(s.Address.String())))
	}
	return findings
}

// checkExposed returns how many skills are tools, and pins that match none.
func (d *diagnosis) checkExposed(exposed *exposure.Exposure) []sandbox.Finding {
	count := map[exposure.Reach]int{}
	for _, skill := range exposed.Order() {
		count[exposed.Of(skill).Reach]++
	}
	detail := fmt.Sprintf("%d of their own, %d skills by search (expose.mode: %s)", count[exposure.ByTool], count[exposure.BySearch], d.settings.Expose.Mode)
	findings := []sandbox.Finding{sandbox.OK("tools", "%s", detail)}
	for _, pattern := range d.settings.Expose.Pin {
		if !slices.ContainsFunc(exposed.Order(), func(skill *skills.Skill) bool { return exposure.Matches(pattern, skill) }) {
			findings = append(findings, sandbox.Warning("pin", fmt.Sprintf("expose.pin has %q, which no skill is called", pattern), "list names the skills there are"))
		}
	}
	return findings
}

// checkWatches reports whether changes of skills are noticed, and how soon.
func (d *diagnosis) checkWatches() sandbox.Finding {
	watcher, err := d.settings.Roots.Watcher(slog.New(slog.DiscardHandler))
	if err != nil {
		return sandbox.Warning("changes", "they are not noticed: "+err.Error(), "call reload_skills after one")
	}
	defer watcher.Close()
	if err := watcher.Begin(d.settings.Roots.Folders(), nil); err != nil {
		return sandbox.Warning("changes", "they are not noticed: "+err.Error(), "call reload_skills after one")
	}
	return watchFinding("changes", watcher.Gaps())
}

// watchFinding explains the gaps of a watcher.
func watchFinding(subject string, gaps []watch.Gap) sandbox.Finding {
	polled := slices.DeleteFunc(slices.Clone(gaps), func(g watch.Gap) bool { return !errors.Is(g.Err, watch.ErrLimit) })
	unseen := slices.IndexFunc(gaps, func(g watch.Gap) bool { return !errors.Is(g.Err, watch.ErrLimit) })
	if unseen >= 0 {
		gap, remedy := gaps[unseen], "call reload_skills after one, or fix that"
		if errors.Is(gap.Err, watch.ErrFolders) {
			remedy = "raise scan.folders in the configuration, or name the folders that have skills with --skills"
		}
		return sandbox.Warning(subject, "they are not noticed in "+gap.Path+": "+gap.Err.Error(), remedy)
	}
	if len(polled) > 0 {
		return sandbox.Warning(subject, "they are noticed late in "+plain.Count(len(polled), "folder")+", which are polled: "+polled[0].Err.Error(),
			"as root, run: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024; to keep it, write that into /etc/sysctl.d/")
	}
	return sandbox.OK(subject, "noticed at once")
}

// verdict returns which driver will run skills: as a call does, it tries the next one
// only if the first has no sandbox to offer. Without a cache no driver works.
func verdict(driver string, sections []Section) sandbox.Finding {
	found := sandbox.Failed("skills run in", "nothing: instructions are served, but no script can run (driver: "+driver+")", "fix what failed above")
	if !sections[0].Works() {
		return found
	}
	first := "" // a sandbox that may come before it
	for _, s := range sections[2:] {
		switch {
		case s.outcome == untried:
			first = s.Name + ", if the first call can pull its image"
		case s.outcome == ran && s.Works():
			return sandbox.OK("skills run in", "%s", strings.TrimPrefix(first+"; else "+s.Name, "; else "))
		case s.outcome == ran:
			found.Detail = s.Name + ", without what failed above"
			return found
		case s.outcome == failed && first == "":
			return found
		}
	}
	if first != "" {
		return sandbox.Warning(found.Subject, first, "see the image above")
	}
	return found
}
