package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/admission"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/native"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// app is what the commands share. Commands take from it what they need; nothing
// is set up before.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	flags struct {
		config                      string
		skills, plugins, workspaces []string
		sandbox                     string
		expose                      string
		serve                       serveFlags
		logLevel, logFormat         string
	}
}

// settings are the configuration with flags applied.
type settings struct {
	*config.Config
	home       string
	workspaces []string         // without links
	ongrid     []string         // folders of ongrid's skills
	project    *config.Project  // of the first workspace; nil without a file, or with a bad one
	problems   []skills.Problem // of the settings' sources, for catalogs
	logger     *slog.Logger
	gate       *requirements.Gate
	single     bool // there is one call, and so nothing is made ready for others
}

// settings reads the configuration. Flags beat the environment, that beats the
// file, and that the defaults.
func (a *app) settings() (*settings, error) {
	logger, err := a.logger()
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without a home there are no folders in it
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	s := &settings{home: home, logger: logger, ongrid: ongridFolders(os.Getenv(ongridVariable), folder)}
	if s.Config, err = a.loadConfig(home); err != nil {
		return nil, usageError(err)
	}
	if s.Skills, err = appendFolders(s.Skills, a.flags.skills, folder, true); err != nil {
		return nil, err
	}
	if s.Plugins, err = appendFolders(s.Plugins, a.flags.plugins, folder, false); err != nil {
		return nil, err
	}
	s.warnMissing()
	if driver := a.flags.sandbox; driver != "" {
		if !slices.Contains(config.Drivers(), driver) {
			return nil, usageError(fmt.Errorf("--sandbox is %q; write one of auto, docker, native", driver))
		}
		s.Sandbox.Driver = driver
	}
	if err := a.chooseExpose(s); err != nil {
		return nil, err
	}
	if s.workspaces, err = a.chooseWorkspaces(s, folder); err != nil {
		return nil, err
	}
	s.gate = s.newGate()
	if err := s.loadProject(); err != nil {
		s.skipProject(err)
	}
	return s, nil
}

// loadConfig looks at --config (or its variable), or else in the user's
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

// maxProject is the largest file of a workspace's own that is read, in bytes.
const maxProject = 64 << 10

// loadProject reads the file of the first workspace, where it has one.
func (s *settings) loadProject() error {
	if len(s.workspaces) == 0 {
		return nil
	}
	dir := s.workspaces[0]
	data, err := skillfs.ReadRegular(skillfs.DirFS(dir), config.ProjectFile, maxProject)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, config.ProjectFile), err)
	}
	s.project, err = config.ParseProject(data, dir)
	return err
}

// skipProject goes on without the workspace's file: a stranger may have written
// it, and should not decide whether the program works.
func (s *settings) skipProject(err error) {
	file := filepath.Join(s.workspaces[0], config.ProjectFile)
	p := skills.Problem{
		Severity: skills.Warning, Path: file, Message: "it is left out: " + strings.TrimPrefix(err.Error(), file+": "),
		Remedy: "correct the file, or remove it",
	}
	s.problems = append(s.problems, p)
	s.logger.Warn("the workspace's own configuration does not count", "problem", p.String())
}

func (a *app) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.flags.logLevel)); err != nil {
		return nil, usageError(fmt.Errorf("--log-level is %q; write one of debug, info, warn, error", a.flags.logLevel))
	}
	options := &slog.HandlerOptions{Level: level}
	switch a.flags.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(a.stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(a.stderr, options)), nil
	}
	return nil, usageError(fmt.Errorf("--log-format is %q; write text or json", a.flags.logFormat))
}

// namesWorkspaces reports whether flags or configuration name workspaces.
func (a *app) namesWorkspaces(s *settings) bool {
	return len(a.flags.workspaces)+len(s.Workspaces) > 0
}

// chooseWorkspaces returns those of the flags, else of the configuration, else
// the current folder where it is a project's.
func (a *app) chooseWorkspaces(s *settings, folder string) ([]string, error) {
	chosen := s.Workspaces
	if len(a.flags.workspaces) > 0 {
		chosen = nil
		for _, w := range a.flags.workspaces {
			chosen = append(chosen, absolutePath(folder, w))
		}
	} else if len(chosen) == 0 {
		chosen = defaultWorkspace(folder, s.home, os.TempDir())
	}
	return resolveWorkspaces(chosen)
}

// resolveWorkspaces follows the links in the paths of workspaces, each of which
// must be a folder of its own. Where one lay in another, a skill that may write
// to the outer one could make the inner one a link to anywhere.
func resolveWorkspaces(chosen []string) ([]string, error) {
	var real []string
	for i, w := range chosen {
		for j, outer := range chosen {
			if i != j && within(outer, w) {
				return nil, usageError(fmt.Errorf("workspace %s is in workspace %s, which shows it already; name one of them", w, outer))
			}
		}
		resolved, err := filepath.EvalSymlinks(w)
		if err != nil {
			return nil, usageError(fmt.Errorf("workspace: %w", err))
		}
		if info, err := os.Stat(resolved); err != nil || !info.IsDir() {
			return nil, usageError(fmt.Errorf("workspace %s is not a folder", w))
		}
		real = append(real, resolved)
	}
	return real, nil
}

func absolutePath(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// warnMissing tells of folders of flags and configuration that do not exist. They
// may come later, and are watched for.
func (s *settings) warnMissing() {
	for _, folder := range slices.Concat(s.Skills, s.Plugins) {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			s.logger.Warn("a folder to find skills in does not exist", "folder", folder)
		}
	}
}

// appendFolders adds folders of flags, which need not exist yet. Where packages
// is set, a file that a skill is packed in will do as well.
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

func (s *settings) scanOptions() *scan.Options {
	return &scan.Options{
		Problems: s.problems,
		Depth:    s.Scan.Depth, Manifests: s.Scan.Manifests, Folders: s.Scan.Folders,
		ImageRole: func(role string) bool {
			_, ok := s.Images[role]
			return ok
		},
		Disabled: s.disabledByOpenClaw(),
		Host: func(host string) error {
			_, err := egress.ParseRule(host)
			return err
		},
	}
}

// catalog is what most commands begin with.
func (a *app) catalog(ctx context.Context) (*settings, *skills.Catalog, error) {
	s, err := a.settings()
	if err != nil {
		return nil, nil, err
	}
	catalog, err := s.scan(ctx)
	return s, catalog, err
}

// runner returns a runner of commands in sandboxes, which the caller closes.
func (s *settings) runner() *sandbox.Runner {
	slots := s.Slots()
	return sandbox.New(s.driver(), &sandbox.Options{Admission: admission.New(&slots), Limits: s.Limits()})
}

func (s *settings) driver() sandbox.Driver {
	if s.single {
		warnsDaily := *s
		warnsDaily.logger = s.daily()
		s = &warnsDaily
	}
	switch s.Sandbox.Driver {
	case "docker":
		return s.docker()
	case "native":
		return s.native()
	}
	return sandbox.Fallback(s.docker(), s.native(), func(reason error) {
		s.logger.Warn("skills run in the native sandbox, not in containers", "reason", reason)
	})
}

func (s *settings) docker() *docker.Driver {
	var dir string
	if cache, err := s.cacheDir(); err == nil {
		dir = filepath.Join(cache, "docker")
	}
	return docker.New(&docker.Options{
		Dir:       dir,
		Pool:      s.pool(),
		Forwarder: forwarder(),
		Egress:    s.Egress(),
		Images:    s.Images,
		Runtime:   s.Sandbox.Runtime,
		Logger:    s.logger,

		DependencyEnv: environ(s.Sandbox.DependencyEnv),
		Places: docker.Places{
			DockerHost: os.Getenv("DOCKER_HOST"),
			Context:    os.Getenv("DOCKER_CONTEXT"),
			ConfigDir:  os.Getenv("DOCKER_CONFIG"),
			Home:       s.home,
			RuntimeDir: os.Getenv("XDG_RUNTIME_DIR"),
			CertPath:   os.Getenv("DOCKER_CERT_PATH"),
		},
	})
}

// pool bounds the containers that wait. A pool of none is what the driver calls
// a negative one.
func (s *settings) pool() warmpool.Limits {
	pool := warmpool.Limits{Max: s.Sandbox.Pool.Max, Memory: int64(s.Sandbox.Pool.Memory), Idle: s.Sandbox.Pool.Idle}
	if pool.Max == 0 || s.single {
		pool.Max = -1
	}
	return pool
}

// forwarder is this program, where it can run in a container.
func forwarder() string {
	program, err := os.Executable()
	if err != nil || runtime.GOOS != "linux" {
		return ""
	}
	return program
}

// environ returns the variables of a list of the configuration. A name without a
// value has that of this program; where it has none, it is left out.
func environ(entries []string) []string {
	var env []string
	for _, entry := range entries {
		if strings.Contains(entry, "=") {
			env = append(env, entry)
		} else if value, set := os.LookupEnv(entry); set {
			env = append(env, entry+"="+value)
		}
	}
	return env
}

func (s *settings) native() *native.Driver {
	options := &native.Options{Logger: s.logger, Egress: s.Egress()}
	if s.single {
		options.Warm = -1
	}
	return native.New(options)
}

// snapshots are kept in the user's cache folder.
func (s *settings) snapshots() (*snapshot.Store, error) {
	dir, err := s.cacheDir()
	if err != nil {
		return nil, err
	}
	return snapshot.New(filepath.Join(dir, "snapshots")), nil
}

// cacheDir is where files are kept that can be made again.
func (s *settings) cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache folder: %w; set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "skills-mcp"), nil
}

// executor returns what runs skills. confirmer asks the person who runs the program
// whether a skill may run that is not safe; nil asks nobody.
func (s *settings) executor(runner *sandbox.Runner, sessions *session.Manager, snapshots *snapshot.Store, confirmer policy.Confirmer) *run.Executor {
	decider := policy.New(&policy.Options{Hosts: s.Hosts(), Confirmer: confirmer})
	return run.New(runner, snapshots, decider, &run.Options{
		Sessions:   sessions,
		Workspaces: s.workspaces,
		Secrets:    run.Environ(environ(s.Sandbox.Env)),
		Recorder:   audit.Log{Logger: s.logger},
		MaxTimeout: s.Limits().Timeout,
		Asking:     s.Asking(),

		InstallDependencies: s.Sandbox.Dependencies == config.DependenciesBuild,
	})
}

// printJSON writes a value for machines.
func (a *app) printJSON(value any) error {
	encoder := json.NewEncoder(a.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
