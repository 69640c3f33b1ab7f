package main

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/integration/bench/figures"
)

// A machine is what the figures were measured on.
type machine struct {
	figures.Machine
	Python string `json:"python"` // of the host; containers have the image's
	Bwrap  string `json:"bubblewrap,omitempty"`
	Engine string `json:"engine,omitempty"`
}

func (s *setup) machine(ctx context.Context) machine {
	m := machine{Machine: figures.ThisMachine(), Python: version(ctx, "python3"), Bwrap: version(ctx, "bwrap")}
	if s.engine != nil {
		i := s.engine.info
		m.Engine = fmt.Sprintf("Docker %s (%s, cgroup version %s, %s of %s)", i.ServerVersion, i.Driver, i.CgroupVersion,
			i.DefaultRuntime, strings.Join(slices.Sorted(maps.Keys(i.Runtimes)), ", "))
	}
	return m
}

func (m machine) String() string {
	more := slices.DeleteFunc([]string{m.Python, m.Bwrap, m.Engine}, func(s string) bool { return s == "" })
	return m.Describe(more...)
}

// version is what a program of the host says; "" without it.
func version(ctx context.Context, program string) string {
	file, err := find(program)
	if err != nil {
		return ""
	}
	out, err := exec.CommandContext(ctx, file, "--version").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
