package elicit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/work"
)

// A Call is a request of a client that answers questions by making it again (multi
// round-trip requests, SEP-2322).
type Call struct {
	// Owner is the principal that calls.
	Owner identity.Key
	// Method, Name and Args identify the call: a state is valid for the same ones
	// alone. Args are the arguments as canonical JSON.
	Method, Name string
	Args         []byte
	// State and Responses are the state of the last result and the client's answers.
	// Responses without a state answer later questions of the same keys.
	State     string
	Responses mcp.InputResponses
	// Outlives reports whether the call goes on when its request has been answered, and
	// shows the questions of r to the client by itself: [PendingCalls.Do] then returns at
	// the end alone. nil is no.
	Outlives func(r *PendingCall) bool
	// Stderr and Progress get the run's output during this request; nil discards it.
	// They are not called afterwards.
	Stderr   io.Writer
	Progress func(message string)
}

// parts returns the owner and the request, for which alone a state of the call is valid.
func (c *Call) parts() [][]byte {
	return [][]byte{[]byte(c.Owner), []byte(c.Method), []byte(c.Name), c.Args}
}

// Required is the error of a call that continues when the client has answered.
type Required struct {
	Requests map[string]*Request
	State    string
}

func (r *Required) Error() string { return "the client has to answer first" }

// Result returns the part of a result that asks the client.
func (r *Required) Result() (mcp.Result, mcp.MultiRoundTripResult, error) {
	requests, err := inputs(r.Requests)
	return mcp.Result{ResultType: mcp.ResultTypeInputRequired}, mcp.MultiRoundTripResult{InputRequests: requests, RequestState: r.State}, err
}

// inputs returns requests in mcp-go's terms.
func inputs(requests map[string]*Request) (mcp.InputRequests, error) {
	all := mcp.InputRequests{}
	for key, request := range requests {
		input, err := request.input()
		if err != nil {
			return nil, err
		}
		all[key] = input
	}
	return all, nil
}

// input is a request in mcp-go's terms, with the form as the skill wrote it.
func (r *Request) input() (mcp.InputRequest, error) {
	switch r.Method {
	case methodPerson:
		var link linkParams
		if err := json.Unmarshal(r.Params, &link); err == nil && link.Mode == mcp.ElicitationModeURL {
			return mcp.NewElicitationInputRequest(mcp.ElicitationParams{Mode: link.Mode, Message: link.Message, ElicitationID: link.ID, URL: link.URL}), nil
		}
		var form formParams
		err := json.Unmarshal(r.Params, &form)
		return mcp.NewElicitationInputRequest(mcp.ElicitationParams{Mode: mcp.ElicitationModeForm, Message: form.Message, RequestedSchema: form.Schema}), err
	case methodModel:
		var params mcp.CreateMessageParams
		err := json.Unmarshal(r.Params, &params)
		return mcp.NewSamplingInputRequest(params), err
	}
	return mcp.NewRootsInputRequest(), nil
}

// ErrGone is returned for an answer to a run that has ended.
var ErrGone = errors.New("the run that asked has ended: the answer came too late")

// ErrTwice is returned for an answer to a run that another request has continued.
var ErrTwice = errors.New("this has been answered already, and the run goes on")

// errLeft ends the runs of a client that has left.
var errLeft = fmt.Errorf("its client has left: %w", context.Canceled)

// PendingCalls are the runs that wait for a client's answers between its requests.
type PendingCalls struct {
	name func(id string) string
	key  *key
	runs *work.Registry[*PendingCall] // those that have not ended
}

// NewPendingCalls returns an empty set, which has to be closed. name returns an ID that names
// this server, too; nil returns it as it is. Servers of one secret, of 32 bytes, go on with each
// other's calls that have not begun; nil is a server alone.
func NewPendingCalls(name func(id string) string, secret []byte) *PendingCalls {
	if name == nil {
		name = func(id string) string { return id }
	}
	return &PendingCalls{name, newKey(secret), work.New[*PendingCall](work.Limits{})}
}

// Do returns the result of run, or a [*Required] if it asks first: run then waits for
// the client to call again. Other errors are an [*rpc.Error] for a state that is not
// valid, [ErrGone], [ErrTwice], and [sandbox.ErrClosed].
//
// The context of run outlives this request, and ends with its owner, with the
// store, or when the current request is cancelled.
func (d *PendingCalls) Do(ctx context.Context, c Call, run func(ctx context.Context, r *PendingCall) any) (any, error) {
	if c.State == "" {
		return d.start(ctx, &c, state{}, run)
	}
	s, err := d.key.open(c.State, c.parts())
	if err != nil {
		return nil, rpc.InvalidParams(err.Error()+"; make the request again without it", nil)
	}
	r, found := d.runs.Find(s.run)
	if !found && s.shown != 0 && !strings.HasSuffix(s.run, d.name("")) { // of a server that has ended
		return d.start(ctx, &c, s, run)
	}
	if !found {
		return nil, ErrGone
	}
	if !r.attach(&c) {
		return nil, ErrTwice
	}
	r.deliver(s.round, &c)
	return d.await(ctx, &c, r)
}

// start is Do for a new call, or for one that has not begun elsewhere, with the state of its
// question there.
func (d *PendingCalls) start(ctx context.Context, c *Call, asked state, run func(ctx context.Context, r *PendingCall) any) (any, error) {
	r := &PendingCall{Unit: work.Unit{ID: d.name(rand.Text()), By: c.Owner}, turn: make(chan struct{}, 1), call: c, given: maps.Clone(c.Responses), asked: asked}
	if err := d.runs.Start(ctx, r, func(ctx context.Context) { r.outcome = run(ctx, r) }); err != nil {
		return nil, err
	}
	return d.await(ctx, c, r)
}

// await returns when the run that a request is attached to has ended or asks.
func (d *PendingCalls) await(ctx context.Context, c *Call, r *PendingCall) (any, error) {
	defer r.detach()
	for {
		if r.waits() && ctx.Err() == nil && (c.Outlives == nil || !c.Outlives(r)) {
			if s, requests := r.asks(); requests != nil {
				return nil, &Required{requests, d.key.seal(s, c.parts())}
			}
		}
		select {
		case <-r.Done():
			return r.outcome, nil
		case <-r.turn:
		case <-ctx.Done():
			r.End(context.Cause(ctx))
			<-r.Done()
			return r.outcome, nil
		}
	}
}

// Leave ends the runs of an owner that has left. It does not wait.
func (d *PendingCalls) Leave(owner identity.Key) { d.runs.Leave(owner, errLeft) }

// Close ends all runs and waits for them.
func (d *PendingCalls) Close() { d.runs.Close() }

// A PendingCall is a run that outlives its request to wait for answers. As an [Asker] it
// asks the client. Its stderr and progress go to the current request, and are dropped
// between two requests.
type PendingCall struct {
	work.Unit
	turn    chan struct{} // has room for one: something is asked
	outcome any           // valid when it is over

	mu       sync.Mutex // guards the fields below
	call     *Call      // the current request; nil between two
	round    int        // counts the questions
	shown    bool       // the client has got the question
	pending  map[string]*Request
	answers  map[string]json.RawMessage
	answered chan struct{} // closed when nothing is pending
	given    mcp.InputResponses
	asked    state // of the question that given answers; zero is none
}

// Ask implements [Asker].
func (r *PendingCall) Ask(ctx context.Context, requests map[string]*Request) (map[string]json.RawMessage, error) {
	answered := r.open(requests)
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

// open asks the client, and uses the answers that it gave in advance.
func (r *PendingCall) open(requests map[string]*Request) (answered <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
	r.shown = false
	r.pending, r.answers, r.answered = maps.Clone(requests), map[string]json.RawMessage{}, make(chan struct{})
	r.take(r.given, true)
	select {
	case r.turn <- struct{}{}:
	default:
	}
	return r.answered
}

// take stores the valid answers to pending requests, and all to those of [Request.Once]. With once it removes them: an
// answer given in advance counts once, as the same key may be asked again.
func (r *PendingCall) take(responses mcp.InputResponses, once bool) {
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
		if once && r.asked.shown != 0 {
			request.Put = time.UnixMilli(r.asked.shown)
		}
		answer, err := response.MarshalJSON() // as the client wrote it
		if err != nil || !request.Once && request.Check(answer) != nil {
			continue
		}
		r.answers[key] = answer
		delete(r.pending, key)
	}
	if len(r.pending) == 0 {
		close(r.answered)
	}
}

// deliver stores a client's answers to a question. Those to an earlier one change
// nothing: the client may not have got the result that followed.
func (r *PendingCall) deliver(round int, c *Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if round == r.round {
		r.take(c.Responses, false)
	}
}

// Answer stores a client's answers to the pending requests, and ignores others. It returns
// the keys of those that still are not answered: their answers do not fit.
func (r *PendingCall) Answer(responses mcp.InputResponses) (wrong []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.take(responses, false)
	for key := range responses {
		if r.pending[key] != nil {
			wrong = append(wrong, key)
		}
	}
	return wrong
}

// Pending returns the requests that are not answered yet, for the client, and the number
// of the question that they are of.
func (r *PendingCall) Pending() (round int, requests mcp.InputRequests, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.shown {
		r.put(time.Now())
		r.shown = true
	}
	requests, err = inputs(r.pending)
	return r.round, requests, err
}

// waits reports whether requests are not answered yet.
func (r *PendingCall) waits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pending) > 0
}

// asks returns the requests that are not answered yet, or nil, with their state.
func (r *PendingCall) asks() (state, map[string]*Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) == 0 {
		return state{}, nil
	}
	now := time.Now()
	r.put(now)
	s := state{run: r.ID, round: r.round, shown: now.UnixMilli()}
	for _, request := range r.pending {
		if !request.Fresh {
			s.shown = 0
		}
	}
	return s, maps.Clone(r.pending)
}

// put sets when the client got the pending requests. It needs mu.
func (r *PendingCall) put(at time.Time) {
	for _, request := range r.pending {
		request.Put = at
	}
}

// attach makes c the current request. It reports false if there is one.
func (r *PendingCall) attach(c *Call) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.call != nil {
		return false
	}
	r.call = c
	return true
}

func (r *PendingCall) detach() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.call = nil
}

// Write passes stderr to the current request.
func (r *PendingCall) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.call != nil && r.call.Stderr != nil {
		return r.call.Stderr.Write(p)
	}
	return len(p), nil
}

// Say passes a progress message to the current request.
func (r *PendingCall) Say(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.call != nil && r.call.Progress != nil {
		r.call.Progress(message)
	}
}
