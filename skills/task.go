package skills

// A Task says how a skill is run for clients that know tasks.
type Task string

// How a skill is run for clients that know tasks.
const (
	TaskLong     Task = ""         // what takes long becomes a task
	TaskAlways   Task = "always"   // each call is one at once; other clients get the result as ever
	TaskRequired Task = "required" // likewise, and other clients are refused
)
