package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/skills"
)

// newGate returns what says which skills have what they need. It knows nothing
// of sandboxes yet, and asks nobody.
func (s *settings) newGate() *requirements.Gate {
	granted := environ(s.Sandbox.Env)
	options := &requirements.Options{
		Env: func(name string) bool {
			return slices.ContainsFunc(granted, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		},
		HostEnv: func(name string) bool {
			_, set := os.LookupEnv(name)
			return set
		},
		HostHas: func(name string) bool {
			_, err := exec.LookPath(name)
			return err == nil
		},
		Config: s.Provides.Config, Capabilities: s.Provides.Capabilities, Logger: s.logger,
	}
	if cache, err := s.cacheDir(); err == nil {
		options.Dir = filepath.Join(cache, "programs")
	}
	return requirements.New(options)
}

// learnTime is how long a command that only lists skills may take to find out
// what sandboxes have.
const learnTime = 10 * time.Second

// learned returns the catalog with what the sandboxes of its skills have, or of
// the named one's alone. What cannot be found out is not held against a skill.
func (a *app) learned(ctx context.Context, names ...string) (_ *settings, _ *skills.Catalog, err error) {
	s, catalog, err := a.catalog(ctx)
	if err != nil {
		return nil, nil, err
	}
	wanted := catalog.Skills
	if len(names) > 0 {
		wanted = nil
		if skill, _, err := s.pick(catalog, names[0]); err == nil {
			wanted = []*skills.Skill{skill}
		}
	}
	roles := requirements.Wants(wanted...)
	if len(roles) == 0 {
		return s, catalog, nil
	}
	s.single = true
	runner := s.runner()
	defer func() { err = errors.Join(err, runner.Close()) }()
	limited, cancel := context.WithTimeout(ctx, learnTime)
	defer cancel()
	if !s.learn(limited, runner, roles) {
		return s, catalog, nil
	}
	catalog, err = s.scan(ctx)
	return s, catalog, err
}

// learn finds out what the sandboxes of roles have, and reports whether that is
// news.
func (s *settings) learn(ctx context.Context, runner *sandbox.Runner, roles []string) bool {
	changed, err := s.gate.Learn(ctx, runner, roles)
	if err != nil && ctx.Err() == nil {
		s.logger.Info("what programs sandboxes have is not known", "error", err)
	}
	return changed
}

// learnFor returns the skill as it is with what its sandbox has.
func (s *settings) learnFor(ctx context.Context, runner *sandbox.Runner, catalog *skills.Catalog, skill *skills.Skill) (*skills.Skill, error) {
	roles := requirements.Wants(skill)
	if len(roles) == 0 || !s.learn(ctx, runner, roles) {
		return skill, nil
	}
	return s.gate.Apply(catalog).Lookup(skill.QualifiedName())
}
