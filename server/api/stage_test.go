package api_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// printing is a driver of scripts that print a line and leave a file, except those of the
// skill "wait", which end with their call.
type printing struct{}

func (printing) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	if cmd.Skill == "wait" {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	_, err := cmd.Stdout.Write([]byte("done\n"))
	return &sandbox.Exit{Out: sandbox.Files{Taken: []sandbox.File{{Name: "a b/c.txt", Data: []byte("file")}}}}, err
}

func (printing) Close() error { return nil }

// A stage has the service of a server with a real executor, policy and record.
type stage struct {
	*api.Service
	catalog   *skills.Catalog
	executor  *run.Executor
	approvals *approval.Approvals
	key       *seal.Key
	outputs   *output.Store
	runs      store.Runs
	data      *store.Store
	trust     *run.Trust // that a yes to a call of the skill "change" gives; nil is none
}

// A decider is the policy of a stage.
type decider struct {
	*policy.Policy
	stage *stage
}

func (d decider) Decide(ctx context.Context, p *run.Proposal) (*run.Decision, error) {
	made, err := d.Policy.Decide(ctx, p)
	if err == nil {
		made.Trust = d.stage.trust
	}
	return made, err
}

// A directory is that of a stage. The methods that are not here are not called.
type directory struct {
	api.Directory
	*stage
}

func (d directory) Find(_ context.Context, name string) (*skills.Skill, error) {
	return d.catalog.Lookup(name)
}

func (d directory) Run(ctx context.Context, r run.Request) (*result.Run, error) {
	o, err := d.executor.Run(ctx, r)
	if o == nil {
		return nil, err
	}
	return &result.NewReport(result.Client{Outputs: d.outputs, Owner: r.Principal.Key()}, r.Skill, o, err).Run, nil
}

func (d directory) Output(ctx context.Context, uri string) (output.Item, bool) {
	return d.outputs.Get(identity.FromContext(ctx).Key(), uri)
}

// newStage returns a stage with the skills "plain", "wait", "text", which has nothing to
// run, and "change", whose calls people confirm.
func newStage(t *testing.T, mode policy.Mode, change func(*api.Options)) *stage {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, fields := range map[string]string{
		"plain": "script: run.sh\nparams: {n: {type: integer}}", "wait": "script: run.sh", "text": "x: y", "change": "script: run.sh\nclass: mutating",
	} {
		fsys[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: d\n" + fields + "\n---\nDo it.\n")}
		fsys[name+"/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
	}
	catalog, err := scan.Scan(t.Context(), []scan.Root{{FS: fsys, Label: "root"}}, nil)
	if err != nil || len(catalog.Skills) != 4 {
		t.Fatalf("scan: %v, %v", catalog, err)
	}
	data := store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
	s := &stage{catalog: catalog, outputs: output.New(), data: data}
	runner := sandbox.New(printing{}, nil)
	recorder := audit.New(data, nil)
	all := jobs.New(directory{stage: s}.Run, nil)
	var configured api.Options
	if change != nil {
		change(&configured)
	}
	s.key = seal.New(filepath.Join(t.TempDir(), "key"), configured.Passphrases.Keys())
	s.approvals, s.runs = approval.New(data, &approval.Options{Terminal: all, Key: s.key}), store.NewRuns(data)
	workspace := t.TempDir()
	s.executor = run.New(runner, snapshot.New(t.TempDir()), decider{policy.New(&policy.Options{Mode: mode, Approver: s.approvals}), s}, &run.Options{Recorder: recorder, Workspaces: []string{workspace}})
	options := api.Options{Directory: directory{stage: s}, Approvals: s.approvals, Runs: s.runs, Jobs: all, Workspaces: []string{workspace}}
	if change != nil {
		change(&options)
	}
	s.Service = api.New(options)
	t.Cleanup(func() {
		all.Close()
		recorder.Close()
		for _, close := range []func() error{runner.Close, data.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// as returns a context of a principal.
func as(t *testing.T, kind identity.Kind, id string) context.Context {
	return identity.NewContext(t.Context(), identity.Principal{Kind: kind, ID: id})
}

// person returns a context of the person who has signed in.
func person(t *testing.T) context.Context { return as(t, identity.Person, "") }

// execute runs a skill for the principal of ctx, to its end.
func (s *stage) execute(t *testing.T, ctx context.Context, name string, e api.Execution) (*jobs.Job, jobs.Snapshot) {
	t.Helper()
	job, err := s.Execute(ctx, name, e)
	if err != nil {
		t.Fatal(err)
	}
	<-job.Done()
	return job, job.Snapshot(0)
}

// wantCode tells of an error that has not a code; "" is none.
func wantCode(t *testing.T, what string, err error, code run.Code) {
	t.Helper()
	switch {
	case err == nil && code == "":
	case err == nil || run.AsError(err).Code != code:
		t.Errorf("%s: error %v, want %q", what, err, code)
	}
}
