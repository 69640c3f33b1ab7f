// Package setup makes the parts of the program by its configuration: where skills are found,
// which folders they see, how they run, and what a person has decided.
//
// Start with [New].
package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/identity/tokens"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/plugins"
	"github.com/skillsmcp/skills-mcp/server/plugins/conduit"
	"github.com/skillsmcp/skills-mcp/server/plugins/hooks"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/skillshost"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/trust"
	"github.com/skillsmcp/skills-mcp/server/verdicts"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/clawhub"
	"github.com/skillsmcp/skills-mcp/skills/install/files"
	"github.com/skillsmcp/skills-mcp/skills/install/git"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/install/wellknown"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// Settings are the configuration with the flags applied, and its parts by subject.
type Settings struct {
	*config.Config
	Flags      Flags
	Home       string
	Logger     *slog.Logger
	Workspaces *Workspaces
	Roots      *Roots
	Sandboxes  *Sandboxes
	Gate       *requirements.Checker
	Trust      *trust.Workspaces
	Host       *skillshost.Host // the connected MCP servers
	Servers    *plugins.Book    // the MCP servers of plugins
	Machine    *manage.Machine  // its installed skills
	key        *seal.Key        // of the person's decisions, beside the store
	Secrets    *manage.Secrets
	Profiles   *manage.Profiles
	Store      *store.Store // opens its file when it is used
	Tokens     *tokens.Tokens
	Recorder   *audit.Recorder
	Roster     *agents.Roster // has the agents of the catalog that it was applied to last
}

// Flags are the flags of all commands that change the settings.
type Flags struct {
	Config                      string
	Skills, Plugins, Workspaces []string
	Sandbox, Expose             string
}

// New reads the configuration. Flags override the environment, which overrides
// the file, which overrides the defaults. A nil state or recorder is made; the caller closes
// them.
func New(f *Flags, logger *slog.Logger, state *store.Store, recorder *audit.Recorder) (*Settings, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without a home there are no folders in it
	c, err := f.configuration(home, folder, logger)
	if err != nil {
		return nil, err
	}
	if c.Sandbox.Driver == "kubernetes" {
		if err := fetchCopies(c); err != nil {
			return nil, err
		}
	}
	w, err := newWorkspaces(f.Workspaces, c.Workspaces, folder, home, logger)
	if err != nil {
		return nil, err
	}
	if state == nil {
		server, err := newDatabase(c)
		if err != nil {
			return nil, exitcode.Usage(err)
		}
		state = store.New(StoreFile(home), &store.Options{Logger: logger, Server: server})
	}
	key := newKey(state, Passphrases(c).Keys())
	s := &Settings{Config: c, Flags: *f, Home: home, Logger: logger, Workspaces: w, Trust: trust.New(state, key, logger), Store: state, Recorder: recorder, key: key, Host: newHost(home, state, key, logger), Servers: newBook(c, state, logger)}
	s.Sandboxes = &Sandboxes{Config: c, servers: s.Servers, state: filepath.Dir(state.File()), Verdicts: newVerdicts(c, logger), home: home, workspaces: w, host: s.Host, secrets: newSecrets(state.File()), logger: logger}
	if recorder == nil {
		s.Recorder = s.Sandboxes.newRecorder(state)
	}
	s.Sandboxes.Hooks = hooks.New(s.Servers, s.Sandboxes.exists, logger)
	s.Sandboxes.recorder = s.Recorder
	s.Roots = &Roots{Config: c, home: home, Data: dataDir(home), ongrid: ongridFolders(os.Getenv(ongridVariable), logger), workspaces: w, trust: s.Trust, host: s.Host, logger: logger}
	s.Gate = newGate(c, s.Sandboxes, logger)
	s.Machine = s.newMachine()
	w.addProject()
	if s.Sandboxes.Rules, err = newRules(c, policy.NewBook(s.Store, key, logger), s.Trust); err != nil {
		return nil, err
	}
	s.Roster = agents.NewRoster(c.Agents.Define)
	s.Sandboxes.Rules.Agents = s.Roster.Profile
	if project := w.Project; project != nil {
		if err := project.Policy.Narrow(&s.Sandboxes.Rules); err != nil {
			w.reject(err)
		}
	}
	signed := &seal.Options{Signers: []string{seal.Person, seal.Script}, Logger: logger}
	s.Tokens = tokens.New(seal.NewTable(tokens.TokenRow, state, key, signed), seal.NewTable(tokens.LinkRow, state, key, signed), state.Generation)
	s.Profiles = &manage.Profiles{ProfileOptions: manage.ProfileOptions{Rules: &s.Sandboxes.Rules, Resolve: ResolveWorkspace, Decider: func() *policy.Policy { return s.Sandboxes.Decider(nil) }}}
	s.Secrets = &manage.Secrets{SecretOptions: manage.SecretOptions{Store: s.Sandboxes.secrets, Rules: &s.Sandboxes.Rules, Configured: c.Policy.Configured, Pins: s.OpenPins}}
	return s, nil
}

// newKey returns the key of the person's decisions: beside the store's file, or in the
// database.
func newKey(state *store.Store, people seal.People) *seal.Key {
	if state.Shared() {
		return seal.NewShared(state, people)
	}
	return seal.New(filepath.Join(filepath.Dir(state.File()), "approvals.key"), people)
}

// newBook returns the book of the plugins' MCP servers, beside the store. Other processes
// learn from the store that it has changed.
func newBook(c *config.Config, state *store.Store, logger *slog.Logger) *plugins.Book {
	code := &conduit.Settings{Enabled: c.Plugins.Enabled, Values: c.Plugins.Config, Install: c.Sandbox.Dependencies == config.DependenciesBuild && (c.Sandbox.Driver == "docker" || c.Sandbox.Driver == "auto")}
	return plugins.NewBook(filepath.Join(filepath.Dir(state.File()), "plugin-servers"), code, func(ctx context.Context) {
		if err := state.ChangeDecisions(ctx, store.Announced, "servers", func(*store.Decisions) error { return nil }); err != nil {
			logger.Warn("the tools of a plugin's MCP server are listed after the next change", "error", err)
		}
	})
}

// newVerdicts returns the verdicts that the cache has.
func newVerdicts(c *config.Config, logger *slog.Logger) *verdicts.Verdicts {
	file := ""
	if dir, err := CacheDir(); err == nil {
		file = filepath.Join(dir, "verdicts.json")
	}
	return verdicts.New(file, &verdicts.Options{Block: c.Scan.Blocks(), Logger: logger})
}

// newMachine returns the machine whose skills are installed by these settings.
func (s *Settings) newMachine() *manage.Machine {
	return manage.New(manage.Options{
		Data: s.Roots.Data, Home: s.Home, Workspaces: s.Workspaces.Folders, Trusts: s.Trust.Trusts, Logger: s.Logger,
		Install: func(terminal bool) *install.Options {
			return &install.Options{Fetchers: s.fetchers(terminal), Limits: s.Install.Limits.Quarantine()}
		},
		Scan: func(ctx context.Context) (*skills.Catalog, error) {
			scanner, saved := s.Roots.Scanner(nil)
			defer saved()
			return scanner.Scan(ctx)
		},
		Pins: s.OpenPins, Verdicts: s.Sandboxes.Verdicts,
	})
}

// fetchers returns the fetcher of each kind of source. With terminal, git may ask the
// person for a password.
func (s *Settings) fetchers(terminal bool) map[source.Kind]install.Fetcher {
	client := NewDownloadClient()
	local := files.New(client)
	return map[source.Kind]install.Fetcher{
		source.Folder: local, source.Archive: local, source.URL: local,
		source.Git:     git.New(&git.Options{Env: os.Environ(), Terminal: terminal, Public: egress.Public}),
		source.Index:   wellknown.New(client),
		source.ClawHub: clawhub.New(client, &clawhub.Options{Registry: s.Install.ClawHub}),
		source.OCI:     NewOCIFetcher(s.Home, client),
	}
}

// retryInstall bounds the time until a source is tried again that could not be installed.
const retryInstall = 10 * time.Second

// Provide installs the sources of the configuration, and returns after which time they are to
// be installed again; 0 is never.
func (s *Settings) Provide(ctx context.Context) (again time.Duration) {
	var sources []source.Source
	for _, from := range s.Install.Sources {
		sources = append(sources, from.Source)
	}
	if len(sources) == 0 {
		return 0
	}
	if err := s.Machine.Provide(ctx, sources); err != nil && ctx.Err() == nil {
		s.Logger.Error("skills of install.sources are missing or not the newest", "error", err)
		return min(s.Install.Refresh, retryInstall)
	}
	return s.Install.Refresh
}

// SearchClawHub asks the ClawHub registry of the configuration. The hits are a stranger's,
// and so is a part of the error.
func (s *Settings) SearchClawHub(ctx context.Context, query string, limit int) ([]clawhub.Hit, error) {
	client := NewDownloadClient()
	defer client.Close()
	return clawhub.New(client, &clawhub.Options{Registry: s.Install.ClawHub}).Search(ctx, "", query, limit)
}

// Pins returns the accepted versions of skills, compared with their snapshots.
func (s *Settings) Pins(snapshots *snapshot.Store) *pins.Pins {
	options := &pins.Options{Logger: s.Logger}
	if s.Config.Scan.Blocks() != "" {
		options.Scan = s.Sandboxes.Verdicts
	}
	return pins.New(s.Store, s.key, func(ctx context.Context, skill *skills.Skill, had string) (digest, folder string, err error) {
		use := run.UseOf(skill)
		if had != "" {
			return had, snapshots.Find(ctx, use, had), nil
		}
		use.Lease = s.Limits().Timeout
		taken, err := snapshots.Take(ctx, skill.Files, use)
		if err != nil {
			return "", "", err
		}
		return taken.Digest, taken.Dir, nil
	}, options)
}

// OpenPins returns the accepted versions of skills: those of the server, if one runs.
func (s *Settings) OpenPins() (*pins.Pins, error) {
	if s.Sandboxes.Pins != nil {
		return s.Sandboxes.Pins, nil
	}
	snapshots, err := OpenSnapshots()
	if err != nil {
		return nil, err
	}
	return s.Pins(snapshots), nil
}

// Passphrases returns the hashes by which people prove who they are.
func Passphrases(c *config.Config) approval.Passphrases {
	return approval.Passphrases{Person: c.Policy.Passphrase, Approvers: c.Policy.Approvers, Script: c.Policy.ScriptToken}
}

// configuration returns the configuration with the flags applied. Relative paths
// start from folder.
func (f *Flags) configuration(home, folder string, logger *slog.Logger) (*config.Config, error) {
	c, err := f.loadConfig(home)
	if err != nil {
		return nil, exitcode.Usage(err)
	}
	if c.Skills, err = appendFolders(c.Skills, f.Skills, folder, true); err != nil {
		return nil, err
	}
	if c.Plugins.Dirs, err = appendFolders(c.Plugins.Dirs, f.Plugins, folder, false); err != nil {
		return nil, err
	}
	c.Store = cmp.Or(os.Getenv(storeVariable), c.Store)
	warnMissing(slices.Concat(c.Skills, c.Plugins.Dirs), logger)
	if driver := f.Sandbox; driver != "" {
		if !slices.Contains(config.Drivers(), driver) {
			return nil, exitcode.Usage(fmt.Errorf("--sandbox is %q; write one of %s", driver, strings.Join(config.Drivers(), ", ")))
		}
		c.Sandbox.Driver = driver
	}
	if c.Sandbox.Driver == "kubernetes" && !hasCluster {
		return nil, exitcode.Usage(errors.New("sandbox.driver is kubernetes, and this build has no driver for it; use one built with: go build -tags cluster ./cmd/skills-mcp"))
	}
	if mode := f.Expose; mode != "" {
		if !slices.Contains(exposure.Modes(), mode) {
			return nil, exitcode.Usage(fmt.Errorf("--expose is %q; write one of auto, all, search", mode))
		}
		c.Expose.Mode = mode
	}
	return c, nil
}

// Reread reads the configuration again, with the flags of the start, and returns the rules of
// it. A file that is gone is an error: no configuration would allow more.
func (s *Settings) Reread() (*config.Config, *policy.Options, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	c, err := s.Flags.configuration(s.Home, folder, s.Logger)
	if err != nil {
		return nil, nil, err
	}
	if c.File != s.Config.File {
		return nil, nil, fmt.Errorf("the configuration file %s is not there any more", cmp.Or(s.Config.File, c.File))
	}
	rules, err := newRules(c, s.Sandboxes.Rules.Book, s.Trust)
	if project := s.Workspaces.Project; err == nil && project != nil {
		err = project.Policy.Narrow(&rules)
	}
	return c, &rules, err
}

// loadConfig reads the file of --config (or its variable), else the one in the user's
// configuration folder.
func (f *Flags) loadConfig(home string) (*config.Config, error) {
	if f.Config != "" {
		if _, err := os.Stat(f.Config); err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		file, err := filepath.Abs(f.Config)
		if err != nil {
			return nil, err
		}
		return config.Load([]string{file}, home)
	}
	var files []string
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(dir, "skills-mcp", "config.yaml"))
	}
	return config.Load(files, home)
}

// appendFolders adds folders of flags, which need not exist yet. With packages, a file
// with a packed skill is valid, too.
func appendFolders(folders, given []string, from string, packages bool) ([]string, error) {
	for _, folder := range given {
		folder = AbsolutePath(from, folder)
		info, err := os.Stat(folder)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, exitcode.Usage(err)
		case info.IsDir(), packages && info.Mode().IsRegular() && IsArchive(folder):
		case packages:
			return nil, exitcode.Usage(fmt.Errorf("%s is neither a folder nor a ZIP or tar.gz file", folder))
		default:
			return nil, exitcode.Usage(fmt.Errorf("%s is not a folder", folder))
		}
		folders = append(folders, folder)
	}
	return folders, nil
}

// warnMissing warns of folders of flags and configuration that do not exist. They
// may be made later, and are watched for.
func warnMissing(folders []string, logger *slog.Logger) {
	for _, folder := range folders {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			logger.Warn("a folder to find skills in does not exist", "folder", folder)
		}
	}
}
