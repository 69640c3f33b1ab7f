package server

import (
	"path/filepath"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// BenchmarkService measures pages of 10,000 skills, under 20 rules of the configuration.
func BenchmarkService(b *testing.B) {
	catalog, dir := manySkills(b), b.TempDir()
	state := store.New(filepath.Join(dir, "skills-mcp.db"), nil)
	defer state.Close()
	options := &policy.Options{Book: policy.NewBook(state, seal.New(filepath.Join(dir, "key"), nil), nil)}
	for _, skill := range catalog.Skills[:20] {
		options.Rules = append(options.Rules, policy.Rule{Pattern: skill.Name, Approve: policy.Session, Name: skill.Name})
	}
	decider := policy.New(options)
	runner := sandbox.New(ends(0, "", ""), nil)
	defer runner.Close()
	snapshots := snapshot.New(b.TempDir())
	s := New(run.New(runner, snapshots, decider, nil), &Options{Snapshots: snapshots})
	defer s.Close()
	person := identity.NewContext(b.Context(), identity.Principal{Kind: identity.Person})
	filter := policy.NewFilter(decider, identity.Principal{Kind: identity.Model})
	if _, err := decider.Enable(person, identity.Principal{}, catalog.Skills[7], false); err != nil {
		b.Fatal(err)
	}
	s.Publish(filter.Apply(person, catalog))
	service := api.New(api.Options{Directory: s.Directory(), Rules: filter})
	for name, q := range map[string]api.SkillQuery{"first": {}, "state": {State: "ready"}, "search": {Text: "thing number 77"}, "off": {State: "off"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if page, err := service.Skills(person, q); err != nil || len(page.Items) == 0 {
					b.Fatal(page, err)
				}
			}
		})
	}
}
