package telemetry

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// Command returns the observer of commands; nil is none. See [sandbox.Options]. Scripts get
// their trace as TRACEPARENT and TRACESTATE.
func (t *Telemetry) Command() func(ctx context.Context, cmd *sandbox.Command, queued time.Duration) (context.Context, func(*sandbox.Result, error)) {
	if t == nil {
		return nil
	}
	return func(ctx context.Context, cmd *sandbox.Command, queued time.Duration) (context.Context, func(*sandbox.Result, error)) {
		began := time.Now()
		t.queue.Record(ctx, queued.Seconds())
		_, waited := t.tracer.Start(ctx, "queue", trace.WithTimestamp(began.Add(-queued)))
		waited.End(trace.WithTimestamp(began))
		ctx, span := t.tracer.Start(ctx, "sandbox", trace.WithAttributes(attribute.String("skills_mcp.run.id", cmd.RunID)))
		cmd.Env = slices.Clip(cmd.Env)
		carrier := propagation.MapCarrier{}
		t.wire.Inject(ctx, carrier)
		for name, value := range carrier {
			cmd.Env = append(cmd.Env, strings.ToUpper(name)+"="+value)
		}
		return ctx, func(r *sandbox.Result, err error) {
			t.ended(ctx, r, err)
			if r != nil && r.Exited {
				span.SetAttributes(attribute.String("skills_mcp.sandbox.driver", r.Sandbox), attribute.Int("process.exit.code", r.Code))
			}
			end(span, err)
		}
	}
}

// ended measures the sandbox of a command that has ended, and its connections.
func (t *Telemetry) ended(ctx context.Context, r *sandbox.Result, err error) {
	if _, none := errors.AsType[*sandbox.UnavailableError](err); none {
		t.faults.Add(ctx, 1)
		t.engine.Record(ctx, 0)
	}
	if r == nil {
		return
	}
	t.engine.Record(ctx, 1)
	for _, c := range r.Connections {
		outcome := "made"
		if c.Refused != "" {
			outcome = "denied"
		}
		t.connections.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
		t.traffic.Add(ctx, c.Sent, metric.WithAttributes(attribute.String("network.io.direction", "transmit")))
		t.traffic.Add(ctx, c.Got, metric.WithAttributes(attribute.String("network.io.direction", "receive")))
	}
}

// end ends a span, which has failed with an error. Its message may hold what a script or a
// person has written, so that is not kept.
func end(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
		span.SetAttributes(attribute.String("error.type", outcomeOf(nil, err)))
	}
	span.End()
}

// outcomeOf returns how a call ended, in one of a few words.
func outcomeOf(o *run.Outcome, err error) string {
	var failed *run.Error
	switch {
	case errors.As(err, &failed):
		return string(failed.Code)
	case err != nil:
		return other
	case o != nil && o.Result != nil && o.Exited && o.Code != 0:
		return "FAILED"
	}
	return "OK"
}

// Decider returns a decider with a span for each decision and for each wait for people.
func (t *Telemetry) Decider(next run.Decider) run.Decider {
	if t == nil {
		return next
	}
	return decider{next, t}
}

type decider struct {
	run.Decider
	t *Telemetry
}

func (d decider) Decide(ctx context.Context, p *run.Proposal) (*run.Decision, error) {
	ctx, span := d.t.tracer.Start(ctx, "decide")
	decision, err := d.Decider.Decide(ctx, p)
	end(span, err)
	return decision, err
}

func (d decider) Approve(ctx context.Context, p *run.Proposal) error {
	if p.Decision.Signatures == 0 {
		return d.Decider.Approve(ctx, p)
	}
	ctx, span := d.t.tracer.Start(ctx, "approve")
	err := d.Decider.Approve(ctx, p)
	end(span, err)
	d.t.approvals.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcomeOf(nil, err))))
	return err
}

// Hooks returns hooks with a span for each that runs.
func (t *Telemetry) Hooks(next run.Hooks) run.Hooks {
	if t == nil || next == nil {
		return next
	}
	return hooks{next, t}
}

type hooks struct {
	run.Hooks
	t *Telemetry
}

func (h hooks) Around(ctx context.Context, c *run.HookedCall) (*run.Outcome, error) {
	spanned := *c
	spanned.Hook = func(ctx context.Context, r run.Request) (*run.Outcome, error) {
		ctx, span := h.t.tracer.Start(ctx, "hook "+r.Skill.QualifiedName())
		o, err := c.Hook(ctx, r)
		end(span, err)
		return o, err
	}
	return h.Hooks.Around(ctx, &spanned)
}

// Recorder returns a recorder that measures and logs the calls that it passes to next. It
// logs no argument.
func (t *Telemetry) Recorder(next run.Recorder) run.Recorder {
	if t == nil {
		return next
	}
	return recorder{next, t}
}

type recorder struct {
	run.Recorder
	t *Telemetry
}

func (r recorder) Record(ctx context.Context, made run.Record) {
	r.Recorder.Record(ctx, made)
	skill, outcome, queued, took := "", outcomeOf(made.Outcome, made.Err), time.Duration(0), time.Duration(0)
	if made.Skill != nil {
		skill = made.Skill.QualifiedName()
	}
	name := attribute.String("skills_mcp.skill", skill)
	if o := made.Outcome; o != nil && o.Result != nil {
		queued, took = o.Queued, o.WallTime
		r.t.runs.Record(ctx, took.Seconds(), metric.WithAttributes(name))
	}
	r.t.calls.Add(ctx, 1, metric.WithAttributes(name, attribute.String("way", string(made.Way)), attribute.String("outcome", outcome), attribute.String(profileKey, made.Principal.Profile)))
	if r.t.log != nil {
		r.t.log.InfoContext(ctx, "call", "run", made.RunID, "request", requestID(ctx), "parent", made.Parent, "skill", skill, "digest", made.Digest,
			who(made.Principal), "way", string(made.Way), "outcome", outcome, "duration", took, "queued", queued)
	}
}
