package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A machine describes the machine that figures come from.
type machine struct {
	CPU    string   `json:"cpu"`
	Cores  int      `json:"cores"`
	System string   `json:"system"`         // with the kernel's version
	Load   string   `json:"load,omitempty"` // of the last minute, before
	Go     string   `json:"go"`
	More   []string `json:"more,omitempty"` // versions of programs that a suite runs
}

// thisMachine returns the machine that this runs on.
func thisMachine() machine {
	m := machine{CPU: "CPU unknown", Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if model := procField("/proc/cpuinfo", "model name"); model != "" {
		m.CPU = model
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(load), " ")
	}
	return m
}

func (m machine) String() string {
	parts := append([]string{fmt.Sprintf("%s, %d cores", m.CPU, m.Cores), m.System}, m.More...)
	parts = append(parts, m.Go)
	if m.Load != "" {
		parts = append(parts, "load before: "+m.Load)
	}
	return strings.Join(parts, "; ")
}

// procField returns the first value of a name in a file of lines "name: value",
// or "".
func procField(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// procBytes returns a value of a process in bytes, or -1 if it cannot be read.
func procBytes(pid, file, name string) int64 {
	kb, err := strconv.ParseInt(strings.TrimSuffix(procField(filepath.Join("/proc", pid, file), name), " kB"), 10, 64)
	if err != nil {
		return -1
	}
	return kb << 10
}

// pss returns the proportional set size of a process in bytes: its own memory and
// its share of common memory. It is -1 if it cannot be read.
func pss(pid string) int64 { return procBytes(pid, "smaps_rollup", "Pss") }

// openFiles returns the number of open files of a process, or 0 if it cannot be
// read.
func openFiles(pid int) int {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)) // 0 then
	return len(files)
}

// cpuTime returns the processor time of a process's threads, or 0 if it cannot
// be read.
func cpuTime(pid int) time.Duration {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0
	}
	var total time.Duration
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that ended
		}
		spent, _, _ := strings.Cut(string(text), " ")
		ns, _ := strconv.ParseInt(spent, 10, 64)
		total += time.Duration(ns)
	}
	return total
}

// childrenOf returns the process ids of a process's children.
func childrenOf(pid string) ([]string, error) {
	lists, err := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "children"))
	if err != nil {
		return nil, err
	}
	if len(lists) == 0 {
		return nil, fmt.Errorf("the children of process %s cannot be read: %w", pid, os.ErrNotExist)
	}
	var children []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a thread may have ended
			return nil, err
		}
		children = append(children, strings.Fields(string(text))...)
	}
	return children, nil
}
