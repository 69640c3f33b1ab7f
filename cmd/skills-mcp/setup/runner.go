package setup

import (
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/admission"
)

// Runner returns a runner of commands in sandboxes, which the caller closes.
func (s *Sandboxes) Runner() *sandbox.Runner {
	slots := admission.Slots(s.Sandbox.Slots)
	queue := admission.New(&slots)
	s.Telemetry.Queue(queue.Load)
	return sandbox.New(s.driver(), &sandbox.Options{Admission: queue, Limits: s.Limits(), Observe: s.Telemetry.Command()})
}

func (s *Sandboxes) driver() sandbox.Driver {
	if s.Single {
		warnsDaily := *s
		warnsDaily.logger = daily(s.logger)
		s = &warnsDaily
	}
	if s.Sandbox.Driver != "auto" {
		return s.Named(s.Sandbox.Driver)
	}
	return sandbox.Fallback(s.Docker(), s.Native(), func(reason error) {
		s.logger.Warn("skills run in the native sandbox, not in containers", "reason", reason)
	})
}

// Named returns the driver of a name other than auto.
func (s *Sandboxes) Named(name string) sandbox.CheckedDriver {
	switch name {
	case "docker":
		return s.Docker()
	case "native":
		return s.Native()
	}
	return s.cluster()
}
