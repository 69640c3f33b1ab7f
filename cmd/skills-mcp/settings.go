package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/skillshost"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/trust"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install"
)

// settings are the configuration with the flags applied, and its parts by subject.
type settings struct {
	*config.Config
	home       string
	logger     *slog.Logger
	workspaces *workspaces
	roots      *rootSettings
	sandboxes  *sandboxSettings
	gate       *requirements.Checker
	trust      *trust.Workspaces
	host       *skillshost.Host // the connected MCP servers
	machine    *manage.Machine  // its installed skills
	key        *seal.Key        // of the person's decisions, beside the store
	store      *store.Store     // opens its file when it is used; closed by [app.close]
}

// settings reads the configuration. Flags override the environment, which overrides
// the file, which overrides the defaults.
func (a *app) settings() (*settings, error) {
	logger, err := a.logger()
	if err != nil {
		return nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without a home there are no folders in it
	c, err := a.configuration(home, folder, logger)
	if err != nil {
		return nil, err
	}
	w, err := newWorkspaces(a.flags.workspaces, c.Workspaces, folder, home, logger)
	if err != nil {
		return nil, err
	}
	if a.state == nil {
		a.state = store.New(storeFile(home), &store.Options{Logger: logger})
	}
	a.passphrase = c.Policy.Passphrase
	key := seal.New(filepath.Join(filepath.Dir(a.state.File()), "approvals.key"), passphrases(c).Keys())
	s := &settings{Config: c, home: home, logger: logger, workspaces: w, trust: trust.New(a.state, key, logger), store: a.state, key: key, host: newHost(home, a.state, key, logger)}
	s.sandboxes = &sandboxSettings{Config: c, home: home, workspaces: w.folders, host: s.host, logger: logger}
	if a.recorder == nil {
		a.recorder = s.sandboxes.newRecorder(a.state)
	}
	s.sandboxes.recorder = a.recorder
	s.roots = &rootSettings{Config: c, home: home, data: dataDir(home), ongrid: ongridFolders(os.Getenv(ongridVariable), folder), workspaces: w, trust: s.trust, host: s.host, logger: logger}
	s.gate = newGate(c, logger)
	s.machine = s.newMachine()
	w.addProject()
	s.sandboxes.rules = newRules(c, policy.NewBook(s.store, key, logger), s.trust)
	if project := w.project; project != nil {
		if err := project.Policy.Narrow(&s.sandboxes.rules); err != nil {
			w.reject(err)
		}
	}
	return s, nil
}

// newMachine returns the machine whose skills are installed by these settings.
func (s *settings) newMachine() *manage.Machine {
	return manage.New(manage.Options{
		Data: s.roots.data, Home: s.home, Workspaces: s.workspaces.folders, Trusts: s.trust.Trusts, Logger: s.logger,
		Install: func(terminal bool) *install.Options {
			return &install.Options{Fetchers: s.fetchers(terminal), Public: egress.Public, Limits: s.Install.Limits.Quarantine()}
		},
		Scan: func(ctx context.Context) (*skills.Catalog, error) {
			scanner, saved := s.roots.scanner()
			defer saved()
			return scanner.Scan(ctx)
		},
		Pins: s.openPins,
	})
}

// passphrases returns the hashes by which people prove who they are.
func passphrases(c *config.Config) approval.Passphrases {
	return approval.Passphrases{Person: c.Policy.Passphrase, Approvers: c.Policy.Approvers, Script: c.Policy.ScriptToken}
}

// configuration returns the configuration with the flags applied. Relative paths
// start from folder.
func (a *app) configuration(home, folder string, logger *slog.Logger) (*config.Config, error) {
	c, err := a.loadConfig(home)
	if err != nil {
		return nil, usageError(err)
	}
	if c.Skills, err = appendFolders(c.Skills, a.flags.skills, folder, true); err != nil {
		return nil, err
	}
	if c.Plugins, err = appendFolders(c.Plugins, a.flags.plugins, folder, false); err != nil {
		return nil, err
	}
	warnMissing(slices.Concat(c.Skills, c.Plugins), logger)
	if driver := a.flags.sandbox; driver != "" {
		if !slices.Contains(config.Drivers(), driver) {
			return nil, usageError(fmt.Errorf("--sandbox is %q; write one of auto, docker, native", driver))
		}
		c.Sandbox.Driver = driver
	}
	if err := chooseExpose(&c.Expose, a.flags.expose); err != nil {
		return nil, err
	}
	a.recordFlags(c)
	return c, nil
}

// recordFlags records which flags and variables are applied over the file.
func (a *app) recordFlags(c *config.Config) {
	for key, given := range map[string]struct {
		flag   string
		values []string
	}{
		"skills": {"--skills", a.flags.skills}, "plugins": {"--plugins", a.flags.plugins}, "workspaces": {"--workspace", a.flags.workspaces},
		"sandbox.driver": {"--sandbox", []string{a.flags.sandbox}}, "expose.mode": {"--expose", []string{a.flags.expose}},
	} {
		recordFlag(c, key, given.flag, given.values)
	}
	if os.Getenv(budgetVariable) != "" {
		c.Apply("expose.catalog_chars", budgetVariable)
	}
}

// recordFlag records that a flag, or its variable, is applied over a key. Without values
// it is not.
func recordFlag(c *config.Config, key, flag string, values []string) {
	if strings.Join(values, "") != "" {
		c.Apply(key, setBy(flag, values))
	}
}

// loadConfig reads the file of --config (or its variable), else the one in the user's
// configuration folder.
func (a *app) loadConfig(home string) (*config.Config, error) {
	if a.flags.config != "" {
		if _, err := os.Stat(a.flags.config); err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		file, err := filepath.Abs(a.flags.config)
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
		folder = absolutePath(from, folder)
		info, err := os.Stat(folder)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, usageError(err)
		case info.IsDir(), packages && info.Mode().IsRegular() && isArchive(folder):
		case packages:
			return nil, usageError(fmt.Errorf("%s is neither a folder nor a ZIP or tar.gz file", folder))
		default:
			return nil, usageError(fmt.Errorf("%s is not a folder", folder))
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

// budgetVariable limits the total length of the skills' descriptions, in characters,
// as in the Skill tool. It overrides the configuration.
const budgetVariable = "SKILLS_PROMPT_CHAR_BUDGET"

// chooseExpose applies the mode of --expose, if any, and the variable.
func chooseExpose(e *config.Expose, mode string) error {
	if text := os.Getenv(budgetVariable); text != "" {
		chars, err := strconv.Atoi(text)
		if err != nil || chars < 1 {
			return usageError(fmt.Errorf("%s is %q; write a number of characters", budgetVariable, text))
		}
		e.CatalogChars = chars
	}
	if mode == "" {
		return nil
	}
	if !slices.Contains(exposure.Modes(), mode) {
		return usageError(fmt.Errorf("--expose is %q; write one of auto, all, search", mode))
	}
	e.Mode = mode
	return nil
}
