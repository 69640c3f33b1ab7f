package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrWindowFull is returned for a conversation that is larger than the model's window.
var ErrWindowFull = errors.New("the conversation is larger than the model's window")

// ErrCut is returned for a reply that breaks off. The endpoint may charge for it.
var ErrCut = errors.New("the reply breaks off")

const (
	maxTries   = 5 // of one request
	firstDelay = 500 * time.Millisecond

	maxProblem = 16 << 10 // bytes that are read of an error's body
	maxShown   = 300      // and shown of it
)

// A problem is the error of an endpoint, of either API.
type problem struct {
	Type    string `json:"type"`
	Code    any    `json:"code"`
	Message string `json:"message"`
}

// windowFull are parts of the errors, in small letters, of endpoints whose model's window is
// too small: OpenAI, Anthropic, vLLM, llama.cpp.
var windowFull = []string{"context_length_exceeded", "prompt is too long", "context length", "context window", "context limit", "context size"}

// passing are the types and codes of errors in a stream that may be gone at the next attempt.
var passing = []string{"overloaded_error", "api_error", "rate_limit_error", "timeout_error", "server_error", "rate_limit_exceeded", "internal_server_error", "429", "500", "502", "503", "504", "529"}

// failure returns the failure. status is the response's, 0 for an error in a stream.
func (p problem) failure(status int) *failure {
	text := strings.ToLower(fmt.Sprint(p.Type, " ", p.Code, " ", p.Message))
	f := &failure{text: p.Message, again: status == http.StatusTooManyRequests || status >= 500 || slices.Contains(passing, p.Type) || slices.Contains(passing, fmt.Sprint(p.Code))}
	full := slices.ContainsFunc(windowFull, func(part string) bool { return strings.Contains(text, part) })
	if full && !f.again || status == http.StatusRequestEntityTooLarge {
		f.cause = ErrWindowFull
	}
	return f
}

// hints are questions for the person, by the status.
var hints = map[int]string{
	http.StatusUnauthorized: " (is the value of its key right?)",
	http.StatusNotFound:     " (are its url and model right?)",
}

// refusal returns the error of a response without a stream.
func refusal(answer *http.Response) error {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if answer.StatusCode == http.StatusOK && kind != "application/json" && kind != "text/html" { // some endpoints name their stream another type
		return nil
	}
	if to, err := answer.Location(); err == nil {
		return &failure{text: fmt.Sprintf("it redirects to %s, which is not followed", to.Redacted())}
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxProblem)) // a part will do
	var found struct{ Error problem }
	if json.Unmarshal(text, &found) != nil || found.Error.Message == "" {
		found.Error.Message = string(text)
	}
	shown := "it answers " + strings.TrimSpace(answer.Status) + hints[answer.StatusCode]
	if answer.StatusCode == http.StatusOK {
		shown += " without a stream"
	}
	found.Error.Message = strings.TrimSuffix(shown+": "+strings.TrimSpace(found.Error.Message), ": ")
	f := found.Error.failure(answer.StatusCode)
	if seconds, err := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 31); err == nil {
		f.after = time.Duration(seconds) * time.Second
	}
	return f
}

// A failure is the error of one attempt.
type failure struct {
	text  string
	cause error         // [ErrWindowFull], [ErrCut] or nil
	again bool          // the next attempt may succeed
	after time.Duration // that the endpoint asks to wait; 0 is none
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// wait waits before the attempt after attempt try. The error is for an endpoint that asks
// for more time than there is.
func (f *failure) wait(ctx context.Context, try int) error {
	delay := f.after
	if delay == 0 {
		delay = firstDelay << try
		delay = delay/2 + rand.N(delay/2) // many sessions do not come back at once
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= delay {
		return fmt.Errorf("%w; the next attempt would be in %s, after the time limit", f, delay.Round(time.Millisecond))
	}
	pause, cancel := context.WithTimeout(ctx, delay)
	defer cancel()
	<-pause.Done()
	return context.Cause(ctx) // nil unless it ended the pause
}
