package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test is the servers, too: they are this program, started again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveCommand {
		main()
	}
	goleak.VerifyTestMain(m)
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		args     string
		skills   int
		duration time.Duration
		wrong    string
	}{
		{"", 1000, 8 * time.Second, ""},
		{"--quick", 100, time.Second / 2, ""},
		{"--skills 5 --duration 1s", 5, time.Second, ""},
		{"--clients 10 --requests 5", 0, 0, "a request of each"},
		{"more", 0, 0, "no arguments"},
	} {
		var stderr bytes.Buffer
		o, err := parse(strings.Fields(test.args), &stderr)
		switch {
		case test.wrong != "":
			if err == nil || !strings.Contains(stderr.String(), test.wrong) {
				t.Errorf("%q: %v, said %q", test.args, err, &stderr)
			}
		case err != nil || o.skills != test.skills || o.duration != test.duration:
			t.Errorf("%q: %+v, %v", test.args, o, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for reply, want := range map[string]int{
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                       7,
		`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}`: -1,
		`{"jsonrpc":"2.0","method":"notifications/progress"}`:        -1,
		``: -1,
	} {
		if id, err := check([]byte(reply)); (err == nil) != (want >= 0) || err == nil && id != want {
			t.Errorf("%s: %d, %v", reply, id, err)
		}
	}
}

// It works as a whole, on every transport and for both generations.
func TestRun(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := strings.Fields("--skills 30 --rounds 1 --duration 20ms --clients 4 --requests 40")
	if code := execute(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for _, want := range []string{
		"| tools/list | stdio | legacy |", "| tools/list | http | modern |", "| tools/call nothing | http | legacy |", "| tools/call load_skill | stdio | modern |",
		"4 clients at once made 40 requests", " 0 errors;", "| goroutines |",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &stdout)
		}
	}
	if code := execute(t.Context(), []string{"--help"}, nil, io.Discard, io.Discard); code != 0 {
		t.Errorf("--help: exit code %d", code)
	}
}
