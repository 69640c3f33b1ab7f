package figures

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// A Machine is what figures were measured on.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	System string `json:"system"`         // with the kernel's version
	Load   string `json:"load,omitempty"` // of the last minute, before
	Go     string `json:"go"`
}

// ThisMachine is the one that this runs on, as far as it tells.
func ThisMachine() Machine {
	m := Machine{CPU: cpuModel(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(load), " ")
	}
	return m
}

// Describe is the machine in a line, with what else matters of it.
func (m Machine) Describe(more ...string) string {
	parts := append([]string{fmt.Sprintf("%s, %d cores", m.CPU, m.Cores), m.System}, more...)
	parts = append(parts, m.Go)
	if m.Load != "" {
		parts = append(parts, "load before: "+m.Load)
	}
	return strings.Join(parts, "; ")
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
