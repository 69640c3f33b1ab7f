package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// thisMachine describes the machine that figures come from.
func thisMachine() string {
	text := fmt.Sprintf("%s, %d cores; %s/%s", procField("/proc/cpuinfo", "model name"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		text += " " + strings.TrimSpace(string(release))
	}
	text += "; " + runtime.Version()
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		minute, _, _ := strings.Cut(string(load), " ")
		text += "; load before: " + minute
	}
	return text
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

// procMB returns a value of a process in MB, or 0 if it cannot be read.
func procMB(pid int, file, name string) float64 {
	kb, _ := strconv.Atoi(strings.TrimSuffix(procField(fmt.Sprintf("/proc/%d/%s", pid, file), name), " kB"))
	return float64(kb) / 1024
}

// pss returns the proportional set size of processes in MB: their own memory and
// their share of common memory.
func pss(pids ...int) (mb float64) {
	for _, pid := range pids {
		mb += procMB(pid, "smaps_rollup", "Pss")
	}
	return mb
}

// openFiles returns the number of open files of a process, or 0 if it cannot be
// read.
func openFiles(pid int) int {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)) // 0 then
	return len(files)
}

// cpuTime returns the processor time of a process's threads, or 0 if it cannot
// be read.
func cpuTime(pid int) (total time.Duration) {
	for _, text := range threadFiles(pid, "schedstat") {
		spent, _, _ := strings.Cut(text, " ")
		ns, _ := strconv.ParseInt(spent, 10, 64)
		total += time.Duration(ns)
	}
	return total
}

// descendants returns the process ids of the processes below a process.
func descendants(pid int) (all []int) {
	for _, text := range threadFiles(pid, "children") {
		for field := range strings.FieldsSeq(text) {
			child, _ := strconv.Atoi(field)
			all = append(append(all, child), descendants(child)...)
		}
	}
	return all
}

// threadFiles returns the contents of a file of each thread of a process. A
// thread that ends meanwhile is left out.
func threadFiles(pid int, name string) (all []string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", pid, name)) // the pattern is valid
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			all = append(all, string(text))
		}
	}
	return all
}
