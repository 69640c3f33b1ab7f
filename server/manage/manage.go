// Package manage is what commands, the page and models do to this machine: it installs,
// updates, rolls back and removes skills, and says what is installed. Each operation is here
// once; its caller asks the person in its own way.
//
// Start with [New] and [Machine.Target].
package manage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

// Options connect a [Machine] to the program.
type Options struct {
	Data       string   // the person's folder for installed skills; "" is none
	Home       string   // "" is none
	Workspaces []string // folders
	// Trusts reports whether the person trusts a workspace.
	Trusts func(ctx context.Context, workspace string) bool
	// Install returns the options of an installer. With terminal, a source may ask the person
	// for a password.
	Install func(terminal bool) *install.Options
	// Scan returns the skills of the machine as they are now.
	Scan func(ctx context.Context) (*skills.Catalog, error)
	// Pins returns the accepted versions of skills.
	Pins func() (*pins.Pins, error)
	// Verdicts scans skills, and says whether findings block one.
	Verdicts interface {
		ScanAll(ctx context.Context, catalog *skills.Catalog, atOnce int) error
		Blocks(found []verdict.Finding) bool
	}
	Logger *slog.Logger
}

// A Machine has the installed skills of a person, and those of projects. It may be used
// concurrently.
type Machine struct {
	Options

	mu      sync.Mutex
	checked map[string]answers // of sources, by project; guarded by mu
}

// New returns a machine. Nothing is read yet.
func New(o Options) *Machine { return &Machine{Options: o, checked: map[string]answers{}} }

// A Newest is the version that a source has.
type Newest struct {
	Revision string
	Outdated bool
	Err      string // why the source could not be asked
}

// answers are the replies of the sources of a target's entries.
type answers struct {
	at     time.Time
	status []install.Status
}

// of returns the answer about an entry; nil if there is none about its revision.
func (a answers) of(path, revision string) *Newest {
	for _, s := range a.status {
		if s.Path != path || s.Installed.Revision != revision {
			continue
		}
		n := &Newest{Revision: s.Revision, Outdated: s.Outdated}
		if s.Err != nil {
			n.Err = s.Err.Error()
		}
		return n
	}
	return nil
}

// last returns the last answers for a target.
func (m *Machine) last(project string) answers {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.checked[project]
}

// A Target is a folder with installed skills: the person's data folder, or a project.
type Target struct {
	*install.Installer
	Folders install.Target
	machine *Machine
	Claude  *ClaudeLinks
}

// Target returns the target of a project's folder; "" is the person's data folder. With
// terminal, a source may ask the person for a password.
func (m *Machine) Target(project string, terminal bool) (*Target, error) {
	target, err := m.folders(project)
	if err != nil {
		return nil, err
	}
	base := m.Home
	if project != "" {
		base = target.Dir
	}
	return &Target{install.New(target, m.Install(terminal)), target, m, newClaudeLinks(target, base)}, nil
}

// ErrNoFolder is returned for a project whose folder is missing.
var ErrNoFolder = errors.New("is no folder")

func (m *Machine) folders(project string) (install.Target, error) {
	if project == "" {
		if m.Data == "" {
			return install.Target{}, errors.New("there is no folder to install to; set HOME or XDG_DATA_HOME")
		}
		return install.Target{Dir: m.Data, Skills: filepath.Join(m.Data, "skills"), Plugins: filepath.Join(m.Data, "plugins"), State: filepath.Join(m.Data, "state")}, nil
	}
	dir, err := filepath.Abs(project)
	if err != nil {
		return install.Target{}, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return install.Target{}, fmt.Errorf("%s %w", dir, ErrNoFolder)
	}
	agents := filepath.Join(dir, ".agents")
	return install.Target{
		Dir: dir, Skills: filepath.Join(agents, "skills"), Plugins: filepath.Join(agents, "plugins"), State: filepath.Join(agents, ".skills-mcp"),
		// The home folder has the person's own skills, and no skills-lock.json to share.
		Project: skillfs.Resolved(dir) != skillfs.Resolved(m.Home),
	}, nil
}

// Path returns the host path of an entry.
func (t *Target) Path(entry string) string {
	return filepath.Join(t.Folders.Dir, filepath.FromSlash(entry))
}

// Has reports whether everything of a plan is installed as it is, so that there is nothing
// to do.
func (t *Target) Has(ctx context.Context, plan *install.Plan) bool {
	return !slices.ContainsFunc(plan.Items, func(item *install.Item) bool {
		if _, _, ours := t.Claude.link(item.Path); t.Claude.on && !ours {
			return true
		}
		if item.Replaces == nil || item.Replaces.Digest != item.State.Digest || item.Replaces.Source != item.State.Source {
			return true
		}
		changed, err := t.Verify(ctx, item.Path)
		return err != nil || len(changed) > 0
	})
}

// Describe describes a plan for the person, with the links of Claude Code to its items.
func Describe(t *Target, plan *install.Plan) *installation.Change {
	change := installation.Describe(plan, t.Folders, t.machine.Verdicts.Blocks)
	for i, item := range plan.Items {
		if t.Claude.on {
			change.Items[i].Link, _, _ = t.Claude.link(item.Path)
		}
	}
	return change
}

// Prepare is that of the installer, for Claude Code, too: see [ClaudeLinks.Enable].
func (t *Target) Prepare(ctx context.Context, r source.Request) (*install.Plan, error) {
	plan, err := t.Installer.Prepare(ctx, r)
	if err != nil || !t.Claude.on {
		return plan, err
	}
	for _, item := range plan.Items {
		if err := t.Claude.check(item); err != nil {
			return nil, errors.Join(err, plan.Close())
		}
	}
	return plan, nil
}

// Uninstall removes entries, and the links of Claude Code to them.
func (t *Target) Uninstall(ctx context.Context, names ...string) (*install.Removed, error) {
	removed, err := t.Installer.Uninstall(ctx, names...)
	if err != nil {
		return nil, err
	}
	return removed, t.Claude.remove(removed.Entries)
}

// A Review asks whether a change is made. It must return when ctx is done.
type Review func(ctx context.Context, change *installation.Change) (accepted bool, err error)

// Apply makes the change of a plan if a review accepts it, and closes the plan. change is nil
// if it was not made; the folders of files that went aside are in plan.Kept.
func (t *Target) Apply(ctx context.Context, plan *install.Plan, review Review) (change *installation.Change, err error) {
	defer func() { err = errors.Join(err, plan.Close()) }()
	described := Describe(t, plan)
	if accepted, err := review(ctx, described); err != nil || !accepted {
		return nil, err
	}
	return described, t.Commit(ctx, plan, !described.Harmless())
}

// UpdateAll applies the current version of each entry, or of the named ones, that has another
// one. changed is called after each; its change is nil if it was not made. One that fails does
// not prevent the others. found reports that there was one.
func (t *Target) UpdateAll(ctx context.Context, names []string, progress func(done, total int64), review Review, changed func(*installation.Change, *install.Plan)) (found bool, failed []error) {
	for plan, err := range t.Update(ctx, progress, names...) {
		var change *installation.Change
		if err == nil {
			found = true
			if change, err = t.Apply(ctx, plan, review); err == nil {
				changed(change, plan)
			}
		}
		if ctx.Err() != nil {
			return found, []error{context.Cause(ctx)}
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return found, failed
}

// Commit makes the change of a plan, and pins its skills, as accepted if a person has done so.
func (t *Target) Commit(ctx context.Context, plan *install.Plan, byPerson bool) error {
	if err := plan.Commit(ctx); err != nil {
		return err
	}
	for _, path := range plan.Kept {
		t.machine.Logger.Warn("files that were edited are kept aside", "folder", path)
	}
	if err := t.pin(ctx, plan, byPerson); err != nil {
		t.machine.Logger.Warn("the installed skills are not pinned; their first use accepts them", "error", err)
	}
	if t.Claude.on {
		return t.Claude.make(plan)
	}
	return nil
}

// pin accepts the skills of the items of a plan, so that a later growth of their files
// blocks them, or else compares them. Files that differ from the plan's are not accepted.
func (t *Target) pin(ctx context.Context, plan *install.Plan, byPerson bool) error {
	catalog, err := t.machine.Scan(ctx)
	if err != nil {
		return err
	}
	accepted, err := t.machine.Pins()
	if err != nil {
		return err
	}
	for _, item := range plan.Items {
		changed, err := t.Verify(ctx, item.Path)
		if err != nil || len(changed) > 0 {
			return errors.Join(err, fmt.Errorf("%s has changed since it was installed", item.Path))
		}
		installed := skillsIn(catalog, t.Path(item.Path))
		_ = t.machine.Verdicts.ScanAll(ctx, &skills.Catalog{Skills: installed}, 1) // for lists; calls scan again
		if byPerson {
			accepted.AcceptAll(ctx, installed)
			continue
		}
		for _, skill := range installed {
			if skill.Guarded() {
				_ = accepted.Granted(ctx, skill) // who uses the skill gets the error
			}
		}
	}
	return nil
}

// skillsIn returns the skills in a folder, shadowed ones included.
func skillsIn(catalog *skills.Catalog, folder string) (found []*skills.Skill) {
	all := slices.Clone(catalog.Skills)
	for _, shadow := range catalog.Shadowed {
		all = append(all, shadow.Skill)
	}
	folder = skillfs.Resolved(folder)
	for _, skill := range all {
		if skill.Of == nil && !skill.Untrusted() && skill.Dir != "" && skillfs.Inside(folder, skill.Dir) {
			found = append(found, skill)
		}
	}
	return found
}

// Revision names the version of an item.
func Revision(item *installation.Item) string {
	if item.Revision != "" {
		return "revision " + item.Revision
	}
	return "digest " + item.Digest
}
