//go:build !linux

package lab

import "github.com/rogpeppe/go-internal/testscript"

// terminal is for Linux; its scripts are, too.
func terminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there are no terminals here")
}

func screen(ts *testscript.TestScript, neg bool, args []string) { terminal(ts, neg, args) }
