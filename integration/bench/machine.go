package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// A machine is what the figures were measured on.
type machine struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	System  string `json:"system"` // with the kernel's version
	Python  string `json:"python"` // of the host; containers have the image's
	Bwrap   string `json:"bubblewrap,omitempty"`
	Engine  string `json:"engine,omitempty"`
	Load    string `json:"load,omitempty"` // of the last minute, before
	Program string `json:"go"`
}

func (s *setup) machine(ctx context.Context) machine {
	m := machine{
		CPU:     cpuModel(),
		Cores:   runtime.NumCPU(),
		System:  runtime.GOOS + "/" + runtime.GOARCH,
		Python:  version(ctx, "python3"),
		Bwrap:   version(ctx, "bwrap"),
		Program: runtime.Version(),
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(load), " ")
	}
	if s.engine != nil {
		i := s.engine.info
		m.Engine = fmt.Sprintf("Docker %s (%s, cgroup version %s, %s of %s)", i.ServerVersion, i.Driver, i.CgroupVersion,
			i.DefaultRuntime, strings.Join(slices.Sorted(maps.Keys(i.Runtimes)), ", "))
	}
	return m
}

func (m machine) String() string {
	parts := []string{fmt.Sprintf("%s, %d cores", m.CPU, m.Cores), m.System, m.Python}
	for _, part := range []string{m.Bwrap, m.Engine, m.Program} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if m.Load != "" {
		parts = append(parts, "load before: "+m.Load)
	}
	return strings.Join(parts, "; ")
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

func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "CPU unknown"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "CPU unknown"
}
