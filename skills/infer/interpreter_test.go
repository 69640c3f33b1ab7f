package infer

import (
	"strings"
	"testing"
)

func TestInterpreter(t *testing.T) {
	for _, test := range []struct{ name, head, want string }{
		{"run.sh", "", "bash"},
		{"run.sh", "#!/bin/sh\r\necho\r\n", "bash -c " + withoutReturns},
		{"run.py", "#!/usr/bin/env node", "python3"},
		{"run.mjs", "", "node"},
		{"run", "#!/usr/bin/env -S python3 -u\r\nprint()", "python3 -u"},
		{"run", "#!/usr/bin/python\n", "python3"},
		{"run", "#!/bin/sh -e\n", "sh"},
		{"run", "#!/usr/bin/perl -w\n", "perl -w"},
		{"run", "#!/usr/bin/env\n", "bash"},
		{"run", "echo\n", "bash"},
		{"run", "", "bash"},
	} {
		if got := strings.Join(Interpreter(test.name, []byte(test.head)), " "); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.name, test.head, got, test.want)
		}
	}
}
