package figures

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CPU returns the processor time of a process's threads; 0 where the system does
// not tell.
func CPU(pid int) time.Duration {
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
