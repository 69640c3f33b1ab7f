package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// plannedCall is what a person's call of a skill would execute. In the place of
// each value is its name, as "<name>".
type plannedCall struct {
	Argv        []string      `json:"argv"`
	Stdin       string        `json:"stdin,omitempty"` // what it reads there, in words
	Folder      string        `json:"folder"`
	Environment []string      `json:"environment"` // names
	Driver      string        `json:"driver"`      // auto, docker or native
	Role        string        `json:"role"`
	Image       string        `json:"image"` // that the docker driver takes
	Mounts      []mount       `json:"mounts"`
	Network     []string      `json:"network"`
	Limits      plannedLimits `json:"limits"`
	Refused     *refusal      `json:"refused,omitempty"` // where the call would be
}

// mount is a folder that the sandbox has beside the system's own.
type mount struct {
	Path   string `json:"path"`
	From   string `json:"from"`
	Access string `json:"access"` // read-only or writable
	Note   string `json:"note,omitempty"`
}

type plannedLimits struct {
	Timeout float64 `json:"timeout_seconds"`
	Memory  int64   `json:"memory_bytes"`
	CPUs    float64 `json:"cpus"`
	PIDs    int64   `json:"pids"`
	Output  int64   `json:"output_bytes"`
	Tmp     int64   `json:"tmp_bytes"`
	Files   int64   `json:"open_files"`
	File    int64   `json:"file_bytes"`
}

type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// plan says what a call of a skill would execute; nil for a skill that has
// nothing to run. No driver is asked.
func (s *settings) plan(ctx context.Context, skill *skills.Skill) *plannedCall {
	command, err := s.executor(nil, nil, nil, nil).Plan(ctx, skill)
	if command == nil {
		return nil
	}
	role := cmp.Or(command.Role, "default")
	planned := &plannedCall{
		Argv:        nonNil(command.Argv),
		Folder:      sandbox.SkillDir,
		Environment: environmentNames(command),
		Driver:      s.Sandbox.Driver,
		Role:        role,
		Image:       s.Images[role],
		Mounts:      mounts(skill, command.Grant),
		Network:     nonNil(command.Grant.Hosts),
		Limits:      newPlannedLimits(command.Limits.Or(s.Limits()).Or(sandbox.DefaultLimits())),
	}
	if _, reads := skill.Entry.Args.(skills.Input); reads {
		planned.Stdin = "the arguments as a JSON object"
	}
	var refused *run.Error
	if errors.As(err, &refused) {
		planned.Refused = &refusal{string(refused.Code), refused.Message}
	}
	return planned
}

// environmentNames are the variables that a command finds, sorted.
func environmentNames(command *sandbox.Command) []string {
	all := command.Environ("PATH=")
	if len(command.Grant.Hosts) > 0 {
		all = append(all, egress.Environ("")...)
	}
	for i, variable := range all {
		all[i], _, _ = strings.Cut(variable, "=")
	}
	slices.Sort(all)
	return all
}

// mounts are the folders that a call of a skill sees by a grant.
func mounts(skill *skills.Skill, grant sandbox.Grant) []mount {
	access := "read-only"
	if grant.Write {
		access = "writable"
	}
	all := []mount{{Path: sandbox.SkillDir, From: "a snapshot of " + cmp.Or(skill.Dir, skill.File), Access: "read-only"}}
	for _, workspace := range grant.Workspaces {
		m := mount{Path: workspace, From: workspace, Access: access}
		if grant.Write {
			m.Note = notNobodys(workspace, os.Getuid())
		}
		all = append(all, m)
	}
	if grant.Aliased() {
		all = append(all, mount{Path: sandbox.WorkspaceDir, From: grant.Workspaces[0], Access: access})
	}
	return append(all, mount{Path: sandbox.OutDir, From: "memory", Access: "writable"}, mount{Path: "/tmp", From: "memory", Access: "writable"})
}

// notNobodys says that skills cannot write to a workspace which they are granted:
// those of a server that root runs are nobody. It is "" where they can, and for
// any other user's server.
func notNobodys(workspace string, uid int) string {
	info, err := os.Stat(workspace)
	if uid != 0 || err != nil || info.Mode().Perm()&0o002 != 0 || ownedBy(info, sandbox.Nobody) {
		return ""
	}
	return "skills of a server that root runs are nobody, who may not write there; start it as the owner of the folder"
}

func newPlannedLimits(l sandbox.Limits) plannedLimits {
	return plannedLimits{l.Timeout.Seconds(), l.Memory, l.CPUs, l.PIDs, l.Output, l.Tmp, l.Files, l.File}
}

func (l plannedLimits) String() string {
	return fmt.Sprintf("%ss, %s of memory, %s, %d processes, %s of output, %s in %s and in /tmp, %d open files, %s for a file",
		strconv.FormatFloat(l.Timeout, 'f', -1, 64), sandbox.Bytes(l.Memory), processors(l.CPUs), l.PIDs,
		sandbox.Bytes(l.Output), sandbox.Bytes(l.Tmp), sandbox.OutDir, l.Files, sandbox.Bytes(l.File))
}

func processors(n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64) + " processor"
	if n != 1 {
		text += "s"
	}
	return text
}

// printPlan writes what a call would execute.
func printPlan(w io.Writer, p *plannedCall) error {
	return table(w, func(w io.Writer) {
		row := func(key, value string) { fmt.Fprintf(w, "  %s\t%s\n", key, flat(value)) }
		if p.Refused != nil {
			row("refused", fmt.Sprintf("%s: %s", p.Refused.Code, p.Refused.Message))
		}
		// Its blanks are part of its words.
		fmt.Fprintf(w, "  command\t%s\n", strings.ReplaceAll(termtext.Text(quoteWords(p.Argv)), "\n", " "))
		if p.Stdin != "" {
			row("stdin", p.Stdin)
		}
		row("in", p.Folder)
		row("sandbox", sandboxOf(p))
		row("environment", strings.Join(p.Environment, " "))
		row("network", cmp.Or(strings.Join(p.Network, ", "), "none"))
		row("limits", p.Limits.String())
		label := "sees"
		for _, m := range p.Mounts {
			row(label, m.String())
			label = ""
		}
	})
}

func (m mount) String() string {
	if m.Note != "" {
		return m.Path + ", " + m.Access + ", but " + m.Note
	}
	if m.From == m.Path {
		return m.Path + ", " + m.Access
	}
	return m.Path + ", " + m.Access + ": " + m.From
}

// sandboxOf says which driver runs a call, and in what.
func sandboxOf(p *plannedCall) string {
	image := fmt.Sprintf("docker, in the image %s of the role %s", p.Image, p.Role)
	if p.Image == "" {
		image = fmt.Sprintf("docker, in the image of the role %s, which has none", p.Role)
	}
	switch p.Driver {
	case "docker":
		return image
	case "native":
		return "native, with the programs of this machine"
	}
	return image + "; native where there is no docker"
}

// quoteWords joins words so that one sees where each ends. One of several lines is
// left out.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		switch {
		case strings.Contains(word, "\n"):
			quoted[i] = "…" // a program, which --json has in full
		case word == "" || strings.ContainsAny(word, " \t'\"\\$`"):
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		default:
			quoted[i] = word
		}
	}
	return strings.Join(quoted, " ")
}
