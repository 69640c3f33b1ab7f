package skills

// A Task says how a skill is run for clients that know tasks.
type Task string

// How a skill is run for clients that know tasks.
const (
	TaskLong     Task = ""         // what takes long becomes a task
	TaskAlways   Task = "always"   // each call is one at once; other clients get the result as ever
	TaskRequired Task = "required" // likewise, and other clients are refused
)

// task reads how the skill is run for clients that know tasks.
func (p *parser) task() {
	if p.fields.get("task") == nil {
		return
	}
	switch task := Task(p.fields.get("task").Value); task {
	case TaskAlways, TaskRequired:
		p.skill.Task = task
	default:
		p.fields.wrongType("task", "always or required")
	}
}
