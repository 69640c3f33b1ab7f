package sandbox

// A Finding is the result of one check whether commands can run.
type Finding struct {
	Subject string `json:"subject"` // such as "engine" or "image default"
	Level   Level  `json:"level"`
	Detail  string `json:"detail"`           // the finding, for a person
	Remedy  string `json:"remedy,omitempty"` // a remedy for a person
}

// A Level is the severity of a [Finding].
type Level string

// The levels, best first.
const (
	LevelOK      Level = "ok"
	LevelWarning Level = "warning" // commands run, but not as well or as safely as they could
	LevelFailed  Level = "failed"  // commands cannot run, or a promise is not kept
)
