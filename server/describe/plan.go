package describe

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Plan is the command that a person's call of a skill would run, with its mounts and
// its grant. In the place of each value is its parameter's name, as "<name>".
type Plan struct {
	Argv        []string `json:"argv"`
	Stdin       string   `json:"stdin,omitempty"` // its content, in words
	Folder      string   `json:"folder"`          // where it runs, in the sandbox
	Environment []string `json:"environment"`     // names
	Driver      string   `json:"driver"`          // auto, docker or native
	Role        string   `json:"role"`
	Image       string   `json:"image"` // that the docker driver takes
	Mounts      []Mount  `json:"mounts"`
	Network     []string `json:"network"` // granted hosts
	Secrets     []string `json:"secrets,omitempty"`
	Limits      Limits   `json:"limits"`
	Refused     *Refusal `json:"refused,omitempty"` // where the call would be
}

// A Mount is a folder that the sandbox has beside the system's own.
type Mount struct {
	Path   string `json:"path"`
	From   string `json:"from"`
	Access string `json:"access"` // read-only or writable
	Note   string `json:"note,omitempty"`
}

// Limits are those of a call.
type Limits struct {
	Timeout float64 `json:"timeout_seconds"`
	Memory  int64   `json:"memory_bytes"`
	CPUs    float64 `json:"cpus"`
	PIDs    int64   `json:"pids"`
	Output  int64   `json:"output_bytes"`
	Tmp     int64   `json:"tmp_bytes"`
	Files   int64   `json:"open_files"`
	File    int64   `json:"file_bytes"`
}

// A Refusal is the reason why a call would not run.
type Refusal struct {
	Code    string `json:"code"` // a [run.Code]
	Message string `json:"message"`
}

// A Sandbox is the configuration of the sandbox.
type Sandbox struct {
	Driver string            // auto, docker or native
	Images map[string]string // by role
	Limits sandbox.Limits
	// Restricted returns the reason why skills cannot enter a workspace that they are
	// granted, or write to it, or ""; nil always returns "".
	Restricted func(workspace string, write bool) string
}

// Plan describes the command that a call of a skill would run, as
// [run.Executor.Plan] returned it with d and err. It is nil for a skill that has nothing
// to run. No driver is asked.
func (s Sandbox) Plan(skill *skills.Skill, command *sandbox.Command, d *run.Decision, err error) *Plan {
	if command == nil {
		return nil
	}
	role := cmp.Or(command.Role, "default")
	plan := &Plan{
		Argv:        append([]string{}, command.Argv...),
		Folder:      sandbox.SkillDir,
		Environment: environmentNames(command, d),
		Driver:      s.Driver,
		Role:        role,
		Image:       s.Images[role],
		Mounts:      s.mounts(skill, command.Grant),
		Network:     append([]string{}, command.Grant.Hosts...),
		Secrets:     d.SecretLines(),
		Limits:      newLimits(command.Limits.Or(s.Limits).Or(sandbox.DefaultLimits())),
	}
	if _, reads := skill.Entry.Args.(skills.Input); reads {
		plan.Stdin = "the arguments as a JSON object"
	}
	if refused, ok := errors.AsType[*run.Error](err); ok {
		plan.Refused = &Refusal{string(refused.Code), refused.Message}
	}
	return plan
}

// environmentNames returns the variables that a command finds, sorted.
func environmentNames(command *sandbox.Command, d *run.Decision) []string {
	all := command.Environ("PATH=")
	if len(command.Grant.Hosts) > 0 {
		all = append(all, egress.Environ("")...)
	}
	for i, variable := range all {
		all[i], _, _ = strings.Cut(variable, "=")
	}
	for _, secret := range d.Secrets {
		if name := secret.Variable(); name != "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mounts returns the folders that a call of a skill sees by a grant.
func (s Sandbox) mounts(skill *skills.Skill, grant sandbox.Grant) []Mount {
	access := "read-only"
	if grant.Write {
		access = "writable"
	}
	all := []Mount{{Path: sandbox.SkillDir, From: "a snapshot of " + cmp.Or(skill.Dir, skill.File), Access: "read-only"}}
	for _, workspace := range grant.Workspaces {
		m := Mount{Path: workspace, From: workspace, Access: access}
		if grant.Write && len(grant.Unprotected) > 0 {
			m.Note = "also " + strings.Join(grant.Unprotected, ", ")
		}
		if s.Restricted != nil {
			m.Note = cmp.Or(s.Restricted(workspace, grant.Write), m.Note)
		}
		all = append(all, m)
	}
	if grant.Aliased() {
		all = append(all, Mount{Path: sandbox.WorkspaceDir, From: grant.Workspaces[0], Access: access})
	}
	if to := skill.Entry.Server; to != nil && to.Server.Address == "" {
		all = append(all, Mount{Path: sandbox.DataDir, From: "the data folder of the plugin", Access: "writable"})
	}
	return append(all, Mount{Path: sandbox.OutDir, From: "memory", Access: "writable"}, Mount{Path: "/tmp", From: "memory", Access: "writable"})
}

func newLimits(l sandbox.Limits) Limits {
	return Limits{l.Timeout.Seconds(), l.Memory, l.CPUs, l.PIDs, l.Output, l.Tmp, l.Files, l.File}
}
