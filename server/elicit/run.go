package elicit

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A Run is what goes on behind a call, from one request of the client to the
// next. As an [Asker] it asks the client; as a writer of stderr and with
// [Run.Say] it speaks to whichever request is under way, and to nobody between
// two.
type Run struct {
	id      string
	owner   identity.Key
	end     context.CancelCauseFunc
	turn    chan struct{} // has room for one: something is asked
	done    chan struct{} // closed when the run has ended
	outcome any           // valid after done

	mu       sync.Mutex // guards what follows
	call     *Call      // the request under way; nil between two
	round    int        // counts the questions
	expires  time.Time  // of the question
	pending  map[string]*Request
	answers  map[string]json.RawMessage
	answered chan struct{} // closed when nothing is pending
	given    mcp.InputResponses
}

// Ask implements [Asker].
func (r *Run) Ask(ctx context.Context, requests map[string]*Request) (map[string]json.RawMessage, error) {
	answered := r.open(ctx, requests)
	select {
	case <-answered:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) > 0 {
		r.pending = nil
		return nil, context.Cause(ctx)
	}
	return r.answers, nil
}

// open opens a question, and answers of it what was answered ahead.
func (r *Run) open(ctx context.Context, requests map[string]*Request) (answered <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
	r.expires, _ = ctx.Deadline()
	r.pending, r.answers, r.answered = maps.Clone(requests), map[string]json.RawMessage{}, make(chan struct{})
	r.take(r.given, true)
	select {
	case r.turn <- struct{}{}:
	default:
	}
	return r.answered
}

// take takes the answers that fit what is pending, each once where they were
// given ahead: the same key may be asked again, and is then another question.
func (r *Run) take(responses mcp.InputResponses, once bool) {
	if len(r.pending) == 0 {
		return
	}
	for key, request := range r.pending {
		response, ok := responses[key]
		if !ok {
			continue
		}
		if once {
			delete(responses, key)
		}
		answer, err := response.MarshalJSON() // as the client wrote it
		if err != nil || request.Check(answer) != nil {
			continue
		}
		r.answers[key] = answer
		delete(r.pending, key)
	}
	if len(r.pending) == 0 {
		close(r.answered)
	}
}

// deliver takes a client's answers to a question. Those to an earlier one change
// nothing: the client may not have got what came of them.
func (r *Run) deliver(round int, responses mcp.InputResponses) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if round == r.round {
		r.take(responses, false)
	}
}

// asks returns what is not answered yet, or nil.
func (r *Run) asks() (state, map[string]*Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) == 0 {
		return state{}, nil
	}
	return state{r.id, r.round, r.expires}, maps.Clone(r.pending)
}

// attach makes a request the one under way, unless there is one.
func (r *Run) attach(c *Call) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.call != nil {
		return false
	}
	r.call = c
	return true
}

func (r *Run) detach() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.call = nil
}

// Write passes stderr on.
func (r *Run) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.call != nil && r.call.Stderr != nil {
		return r.call.Stderr.Write(p)
	}
	return len(p), nil
}

// Say passes on what the run waits for.
func (r *Run) Say(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.call != nil && r.call.Progress != nil {
		r.call.Progress(message)
	}
}
