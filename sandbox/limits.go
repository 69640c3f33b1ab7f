package sandbox

import (
	"cmp"
	"fmt"
	"time"
)

// MaxSignals bounds a command's queued signals and timers. The kernel counts them
// for the user, whose other programs need some.
const MaxSignals = 1024

// Limits bound one command. A zero field means the default of [DefaultLimits];
// there is no way to ask for no limit.
type Limits struct {
	Memory  int64         // bytes of memory, swap included
	CPUs    float64       // processors' worth of time
	PIDs    int64         // processes and threads at once
	Timeout time.Duration // wall time from the command's start
	Output  int64         // bytes of stdout, and of stderr
	Tmp     int64         // bytes of /tmp, and of /out
	Files   int64         // open files of one process
	File    int64         // bytes of one file in a writable workspace
}

// DefaultLimits returns the limits of a command whose skill and configuration
// say nothing.
func DefaultLimits() Limits {
	return Limits{
		Memory:  512 << 20,
		CPUs:    1,
		PIDs:    128,
		Timeout: 600 * time.Second,
		Output:  10 << 20,
		Tmp:     256 << 20,
		// Descriptors that are sent and not yet received count for the user: with
		// half of the usual limit there, a command takes nothing from others.
		Files: 512,
		File:  1 << 30,
	}
}

// Or returns l with every zero field taken from d.
func (l Limits) Or(d Limits) Limits {
	return Limits{
		Memory:  cmp.Or(l.Memory, d.Memory),
		CPUs:    cmp.Or(l.CPUs, d.CPUs),
		PIDs:    cmp.Or(l.PIDs, d.PIDs),
		Timeout: cmp.Or(l.Timeout, d.Timeout),
		Output:  cmp.Or(l.Output, d.Output),
		Tmp:     cmp.Or(l.Tmp, d.Tmp),
		Files:   cmp.Or(l.Files, d.Files),
		File:    cmp.Or(l.File, d.File),
	}
}

// OutOfMemory returns the error of a command at its memory limit.
func (l Limits) OutOfMemory() error {
	return &LimitError{Limit: LimitMemory, Value: Bytes(l.Memory)}
}

// Bytes returns a number of bytes as text for people: "512 MB".
func Bytes(n int64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	unit, value := 0, float64(n)
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	if value == float64(int64(value)) {
		return fmt.Sprintf("%d %s", int64(value), units[unit])
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
