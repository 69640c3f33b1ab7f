package run

import "context"

// records tells a [Recorder] of calls, also of those whose context has ended.
type records struct {
	recorder Recorder
	check    func(*Outcome) error // [Options.CheckOutput]
}

// begin tells of a run that is about to start.
func (r records) begin(ctx context.Context, p *Proposal) error {
	return translate("the call", "", r.recorder.Begin(context.WithoutCancel(ctx), p))
}

// record tells of a proposal that has ended. The record has the error of the output, too.
func (r records) record(ctx context.Context, p *Proposal, o *Outcome, err error) {
	if err == nil && o != nil {
		err = r.check(o)
	}
	r.recorder.Record(context.WithoutCancel(ctx), Record{p, o, err})
}

// discard is the [Recorder] that records nothing.
type discard struct{}

func (discard) Begin(context.Context, *Proposal) error { return nil }
func (discard) Record(context.Context, Record)         {}
