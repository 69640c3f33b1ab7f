package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/rpc"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a store in virtual time, with clients that know tasks.
type bench struct {
	*Store
	t *testing.T
}

// run runs a test with a store that has these options.
func run(t *testing.T, o *Options, test func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{New(o), t}
		defer b.Close()
		test(t, b)
	})
}

// owner is the key of a principal of a name.
func owner(name string) identity.Key { return identity.Principal{ID: name}.Key() }

func ownerOf(ctx context.Context) identity.Key { return identity.FromContext(ctx).Key() }

// as is the context of a modern request of a principal that declares extensions.
func as(ctx context.Context, name string, extensions ...string) context.Context {
	declared := map[string]any{}
	for _, extension := range extensions {
		declared[extension] = map[string]any{}
	}
	return mcpserver.WithRequestProtocolInfo(identity.NewContext(ctx, identity.Principal{ID: name}), &mcpserver.RequestProtocolInfo{
		Modern: true, ClientCapabilities: &mcp.ClientCapabilities{Extensions: declared},
	})
}

// seen is a task as a client sees it.
type seen struct {
	ResultType, TaskID, Status, StatusMessage, CreatedAt, LastUpdatedAt string
	TTLMs, PollIntervalMs                                               int64
	InputRequests                                                       map[string]struct{ Method string }
	Result                                                              json.RawMessage
	Error                                                               *struct {
		Code    int
		Message string
		Data    any
	}
}

// ask makes a request as a principal, and returns the answer or the error as JSON.
func (b *bench) ask(name, method, params string) string {
	b.t.Helper()
	result, err := b.Methods(ownerOf)[method].Handle(as(b.t.Context(), name, Extension), json.RawMessage(params))
	return outcome(b.t, result, err)
}

func outcome(t *testing.T, result any, err error) string {
	t.Helper()
	if err != nil {
		failed, ok := err.(*rpc.Error)
		if !ok {
			t.Fatal(err)
		}
		return fmt.Sprintf("error %d: %s", failed.Code, failed.Message)
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// get is a task of "ann".
func (b *bench) get(id string) seen {
	b.t.Helper()
	return b.decode(b.ask("ann", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)))
}

func (b *bench) decode(answer string) (s seen) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(answer), &s); err != nil {
		b.t.Fatalf("%v in %s", err, answer)
	}
	return s
}

// begin makes a call of "ann" that is a task at once, and returns its id.
func (b *bench) begin(work Work) string { return b.beginAs("ann", work) }

func (b *bench) beginAs(name string, work Work) string {
	b.t.Helper()
	_, err := b.Do(b.t.Context(), Call{Owner: owner(name)}, work)
	return b.task(err).TaskID
}

// task is the task that a call has become.
func (b *bench) task(err error) seen {
	b.t.Helper()
	other, ok := err.(*rpc.Other)
	if !ok {
		b.t.Fatalf("no task, but %v", err)
	}
	return b.decode(outcome(b.t, other.Result, nil))
}

// says is a result with a text.
func says(text string) *mcp.CallToolResult { return mcp.NewToolResultText(text) }

// waits is work that ends when its context does.
func waits(ctx context.Context, _ *Task) (*mcp.CallToolResult, error) {
	<-ctx.Done()
	return says("stopped: " + context.Cause(ctx).Error()), nil
}
