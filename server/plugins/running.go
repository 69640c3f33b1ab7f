package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// running is a call that a server works on.
type running struct {
	cmd   *sandbox.Command
	input *json.Decoder // the arguments, then answers to questions
	ask   sync.Mutex    // held during a question

	mu    sync.Mutex
	ended bool
}

// close ends the call's output.
func (r *running) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// print writes to the standard error of the call.
func (r *running) print(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		_, _ = r.cmd.Stderr.Write(text) // it does not fail
	}
}

// say prints one line.
func (r *running) say(text string) {
	r.print([]byte(strings.Join(strings.Fields(text), " ") + "\n"))
}

// question asks by the standard output of the call, as a script does, and returns the answer.
func (r *running) question(params any) (json.RawMessage, error) {
	var form struct {
		Mode    string          `json:"mode,omitempty"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema,omitempty"`
	}
	given, err := json.Marshal(params)
	if err == nil {
		err = json.Unmarshal(given, &form)
	}
	if err != nil {
		return nil, err
	}
	request := map[string]any{"method": mcp.MethodElicitationCreate, "params": form}
	line, err := json.Marshal(map[string]any{"mcp": map[string]any{"requests": map[string]any{"q": request}}})
	if err != nil {
		return nil, err
	}
	r.ask.Lock()
	defer r.ask.Unlock()
	r.mu.Lock()
	if !r.ended {
		_, _ = r.cmd.Stdout.Write(append(line, '\n')) // it does not fail
	}
	r.mu.Unlock()
	var answers struct {
		Q json.RawMessage `json:"q"`
	}
	if err := r.input.Decode(&answers); err != nil {
		return nil, errors.New("the call has ended")
	}
	var refused struct{ Error string }
	if err := json.Unmarshal(answers.Q, &refused); err != nil || refused.Error != "" {
		return nil, fmt.Errorf("nobody answers: %s", refused.Error)
	}
	return answers.Q, nil
}

// number returns a number of JSON, or 0.
func number(value any) float64 {
	n, _ := value.(float64)
	return n
}

// progressLine returns a line of progress, as scripts print it.
func progressLine(done, total float64, message any) string {
	text, _ := message.(string)
	count := strconv.FormatFloat(done, 'f', -1, 64)
	switch {
	case total > 0 && done >= 0 && done <= total && !math.IsInf(total, 0):
		return count + "/" + strconv.FormatFloat(total, 'f', -1, 64) + " " + text
	case text == "":
		return "progress: " + count
	}
	return text
}
