package lab

import (
	"fmt"
	"time"
)

// ReadTime is the time in which a person reads a question: a yes that comes faster is a
// program's.
const ReadTime = 1100 * time.Millisecond

// A client that declines a question within instantTime cannot ask, and one that says yes
// within UnreadTime is a program.
const (
	instantTime = 300 * time.Millisecond
	UnreadTime  = time.Second
)

// AnswerAtOnce calls a tool with arguments, and answers the question. It reports whether that
// took less than a time: a busy machine may be as slow as a person.
func (c *ToolClient) AnswerAtOnce(within time.Duration, tool string, args map[string]any, answer string) (r Reply, inTime bool) {
	c.t.Helper()
	began := time.Now() // before the server puts the question
	r = c.Answer(c.Call(tool, args), answer)
	return r, time.Since(began) < within
}

// DeclineAtOnce calls a tool with a text, and answers the question before a person has read
// it; on a busy machine, which may be slower than that, of a later call. It returns the
// call's arguments, and what it ended with.
func (c *ToolClient) DeclineAtOnce(tool, text, answer string) (args map[string]any, r Reply) {
	c.t.Helper()
	for n, inTime := 0, false; !inTime; n++ {
		args = Text(fmt.Sprint(text, " ", n))
		r, inTime = c.AnswerAtOnce(instantTime, tool, args, answer)
	}
	return args, r
}

// Burst sends equal calls at once, answers the one form, if there is one, with a choice
// after a time, and returns the results.
func (c *ToolClient) Burst(calls int, tool, args, choice string) (results []Message, forms int) {
	c.t.Helper()
	meta := ""
	if c.Modern {
		meta = fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}`, c.capabilities)
	}
	request := func(id int, more string) {
		c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s%s}}`, id, tool, args, more, meta))
	}
	for i := range calls {
		request(1000+i, "")
	}
	for len(results) < calls {
		m := c.Receive()
		switch {
		case m.Method == "elicitation/create":
			forms++
			time.Sleep(ReadTime)
			c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":%q}}}`, m.ID, choice))
		case m.Result.ResultType == "input_required":
			forms++
			time.Sleep(ReadTime)
			for key := range m.Result.InputRequests {
				request(2000, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{"answer":%q}}}`, m.Result.RequestState, key, choice))
			}
		case m.Method == "":
			results = append(results, m)
		}
	}
	return results, forms
}
