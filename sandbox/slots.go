package sandbox

import "runtime"

// Slots bound how many commands run at once. A zero field means the default of
// [DefaultSlots]; a zero PerSkill follows Total.
type Slots struct {
	Total     int // commands running, of all callers
	PerCaller int // commands running for one caller
	PerSkill  int // commands running of one skill; by default all slots but one
	Queue     int // commands waiting, of all callers
}

// DefaultSlots returns the slots of a configuration that says nothing: two
// commands for each processor.
func DefaultSlots() Slots {
	return Slots{Total: 2 * runtime.NumCPU(), PerCaller: 3, Queue: 32}
}

// Or returns s with every zero field taken from d.
func (s Slots) Or(d Slots) Slots {
	or(&s.Total, d.Total)
	or(&s.PerCaller, d.PerCaller)
	or(&s.PerSkill, d.PerSkill)
	or(&s.PerSkill, max(s.Total-1, 1)) // one skill alone does not keep all others out
	or(&s.Queue, d.Queue)
	return s
}
