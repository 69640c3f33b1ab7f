package server

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// manySkills is a catalog of 10,000 skills.
func manySkills(b *testing.B) *skills.Catalog {
	b.Helper()
	files := fstest.MapFS{}
	for i := range 10_000 {
		dir := fmt.Sprintf("skill-%05d/", i)
		files[dir+"run.sh"] = &fstest.MapFile{Data: []byte("echo")}
		files[dir+"SKILL.md"] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"---\nname: skill-%05d\ndescription: Does the thing number %d.\nscript: run.sh\nparams:\n  path: {type: string, required: true}\n---\nText.\n", i, i)}
	}
	catalog, err := scan.Scan(b.Context(), []scan.Root{{Source: skills.SourceExtra, FS: files, Label: "bundled"}}, &scan.Options{Folders: 30_000})
	if err != nil || len(catalog.Skills) != 10_000 {
		b.Fatal(len(catalog.Skills), err)
	}
	return catalog
}

func emptyServer(b *testing.B) *Server {
	runner := sandbox.New(ends(0, "", ""), nil)
	snapshots := snapshot.New(b.TempDir())
	s := New(run.New(runner, snapshots, policy.New(nil), nil), &Options{Snapshots: snapshots})
	b.Cleanup(func() {
		s.Close()
		if err := runner.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkPublish measures the first publication of 10,000 skills.
func BenchmarkPublish(b *testing.B) {
	catalog := manySkills(b)
	for b.Loop() {
		emptyServer(b).Publish(catalog)
	}
}

// BenchmarkChange measures the publication of one changed skill among 10,000.
func BenchmarkChange(b *testing.B) {
	now := manySkills(b)
	next := *now
	next.Skills = slices.Clone(now.Skills)
	changed := *now.Skills[5000]
	changed.Description = "Does another thing."
	next.Skills[5000] = &changed
	s := emptyServer(b)
	s.Publish(now)
	for catalog := &next; b.Loop(); now, catalog = catalog, now {
		s.Publish(catalog)
	}
}
