package elicit

import (
	"bytes"
	"strings"
	"testing"
)

// filtered passes a stream in parts of n bytes through a filter. It returns the output
// and the questions.
func filtered(stream string, n int) (out string, questions []string) {
	var b bytes.Buffer
	s := &questionFilter{out: &b, ask: func(line []byte) { questions = append(questions, string(line)) }}
	for len(stream) > 0 {
		part := stream[:min(n, len(stream))]
		_, _ = s.Write([]byte(part))
		stream = stream[len(part):]
	}
	_ = s.Close()
	_, _ = s.Write([]byte("too late"))
	return b.String(), questions
}

func TestQuestionFilter(t *testing.T) {
	const q = `{"mcp":{"ask":"Go on?"}}` + "\n"
	long := `{"mcp":{"ask":"` + strings.Repeat("x", maxLine)
	for name, test := range map[string]struct {
		stream, out string
		questions   int
	}{
		"nothing":               {"", "", 0},
		"text":                  {"a\nb", "a\nb", 0},
		"a question":            {q, "", 1},
		"a call":                {`{"mcp":{"call":{"skill":"a"}}}` + "\n", "", 1},
		"between text":          {"a\n" + q + "b\n" + q + "c", "a\nb\nc", 2},
		"with spaces":           {"  { \"mcp\" : { \"requests\" : {} } }\r\nrest", "rest", 1},
		"broken":                {`{"mcp":{"ask":` + "\n", "", 1},
		"a result":              {`{"mcp":{"content":[]}}` + "\n", `{"mcp":{"content":[]}}` + "\n", 0},
		"an object":             {`{"a": {"mcp":{"ask":"?"}}}` + "\n", `{"a": {"mcp":{"ask":"?"}}}` + "\n", 0},
		"within a line":         {`say {"mcp":{"ask":"?"}}` + "\n", `say {"mcp":{"ask":"?"}}` + "\n", 0},
		"without end":           {"a\n" + strings.TrimSuffix(q, "\n"), "a\n", 0},
		"an object without end": {"{", "{", 0},
		"empty lines":           {"\n\n  \n" + q, "\n\n  \n", 1},
		"too long":              {long + `"}}` + "\nrest\n" + q, "rest\n", 2},
		"a long object":         {"{" + strings.Repeat(" ", maxLine+1) + "}\nrest", "{" + strings.Repeat(" ", maxLine+1) + "}\nrest", 0},
		"much space":            {strings.Repeat(" ", 300) + "\n" + q, strings.Repeat(" ", 300) + "\n", 1},
	} {
		for _, n := range []int{1, 7, 1 << 20} {
			out, questions := filtered(test.stream, n)
			if out != test.out || len(questions) != test.questions {
				t.Errorf("%s, by %d: %.80q and %d questions, want %.80q and %d", name, n, out, len(questions), test.out, test.questions)
			}
			for _, q := range questions {
				if len(q) > maxLine+n {
					t.Errorf("%s, by %d: a question of %d bytes", name, n, len(q))
				}
			}
		}
	}
}

// FuzzQuestionFilter has the same come of a stream however it is cut, and nothing be lost
// but questions.
func FuzzQuestionFilter(f *testing.F) {
	for _, seed := range []string{
		"a\n{\"mcp\":{\"ask\":\"?\"}}\nb", "{\n{}\n {\"mcp\"", "\r\n\t{\"mcp\" : {\"requests\":\n",
		strings.Repeat(" ", maxIndent) + "{\"mcp\":{\"ask\":1}}\n" + strings.Repeat(" ", maxIndent+1) + "{\"mcp\":{\"ask\":1}}\n\f{\"mcp\":{\"ask\":1}}\n",
	} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, stream string, n int) {
		n = max(1, n)
		out, questions := filtered(stream, n)
		whole, same := filtered(stream, max(1, len(stream)))
		if out != whole || strings.Join(questions, "\x00") != strings.Join(same, "\x00") {
			t.Errorf("by %d: %q and %q, at once: %q and %q", n, out, questions, whole, same)
		}
		var want strings.Builder
		for _, line := range strings.SplitAfter(stream, "\n") {
			if !isQuestion([]byte(line)) {
				want.WriteString(line)
			}
		}
		if out != want.String() {
			t.Errorf("%q is left, want %q", out, want.String())
		}
	})
}
