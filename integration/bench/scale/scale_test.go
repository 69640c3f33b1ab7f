package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	for _, test := range []struct {
		args  string
		sizes []int
		edits int
		wrong string
	}{
		{"", []int{3, 100, 1000, 10_000}, 5, ""},
		{"--quick", []int{3, 100}, 1, ""},
		{"--sizes 7,8 --edits 2", []int{7, 8}, 2, ""},
		{"--sizes 7,x", nil, 0, `"x" is not a number`},
		{"--sizes 0", nil, 0, `"0" is not a number`},
		{"--starts 0", nil, 0, "at least one start"},
		{"more", nil, 0, "no arguments"},
	} {
		var stderr bytes.Buffer
		o, err := parse(strings.Fields(test.args), &stderr)
		switch {
		case test.wrong != "":
			if err == nil || !strings.Contains(stderr.String(), test.wrong) {
				t.Errorf("%q: %v, said %q", test.args, err, &stderr)
			}
		case err != nil || !slices.Equal(o.sizes, test.sizes) || o.edits != test.edits:
			t.Errorf("%q: %+v, %v", test.args, o, err)
		}
	}
}

// What is counted is what says so, also at the end of the output.
func TestFollow(t *testing.T) {
	seen := make(chan time.Time, 10)
	follow(strings.NewReader("{\"method\":\"notifications/tools/list_changed\"}\n{\"id\":3}\n\n{\"method\":\"x/list_changed\"}"), seen, `list_changed"`)
	count := 0
	for range seen {
		count++
	}
	if count != 2 {
		t.Errorf("%d notices, want 2", count)
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	rows := []row{{skills: 3, first: 20 * time.Millisecond, second: 12345 * time.Microsecond, rss: 30 << 20, answer: 2048, notices: 2, edits: 3}}
	if err := write(&out, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12.3", "30.0", "2.0", "2/3", "–"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
	if code := run(t.Context(), []string{"--help"}, io.Discard, io.Discard); code != 0 {
		t.Errorf("--help: exit code %d", code)
	}
}
