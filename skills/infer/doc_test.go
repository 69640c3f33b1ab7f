package infer

import (
	"strings"
	"testing"
)

func TestDoc(t *testing.T) {
	for _, test := range []struct {
		kind       Kind
		text, want string
	}{
		{Python, "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n'''One.\n\n    Two.\n      Three.\n'''\nimport os\n", "One.\n\nTwo.\n  Three."},
		{Python, `"one line" # comment`, "one line"},
		{Python, `r"""a\b"""`, `a\b`},
		{Python, "\"\"\"\\\nUsage: \\\"x\\\"\n\"\"\"", `Usage: "x"`},
		{Python, "# What it does.\n\nimport os\n'''not this'''\n", "What it does."},
		{Python, "# /// script\n# dependencies = []\n# ///\n\n# What it does.\nx = 1", "What it does."},
		{Python, `b"""bytes"""`, ""},
		{Python, `"""never closed`, ""},
		{Python, "x = 1\n# later", ""},
		{Bash, "#!/bin/bash\n#\n# Usage: run.sh [-v] FILE\n#   -v  say more\n# =====\n\nset -e\n# later\n", "Usage: run.sh [-v] FILE\n  -v  say more"},
		{Bash, "#!/bin/bash\n# Copyright 2026 Somebody\n# SPDX-License-Identifier: MIT\n\n# What it does.\n", "What it does."},
		{Bash, "set -e\n# later\n", ""},
		{Node, "#!/usr/bin/env node\n'use strict';\n/**\n * What it does.\n *\n * Usage: x\n */\n", "What it does.\n\nUsage: x"},
		{Node, "// What it does.\n// And more.\nrun()\n", "What it does.\nAnd more."},
		{"", "#!/usr/bin/env ruby\n# What it does.\n", "What it does."},
	} {
		if got := doc(test.kind, test.text, newModule(test.kind, []byte(test.text))); got != test.want {
			t.Errorf("%q:\n%q, want\n%q", test.text, got, test.want)
		}
	}
}

func TestDocIsBounded(t *testing.T) {
	for _, text := range []string{`"""` + strings.Repeat("ä", maxDoc) + `"""`, "# x" + strings.Repeat("\n# ö", maxHead), strings.Repeat("# "+strings.Repeat("é", 99)+"\n", 99)} {
		if got := doc(Python, text, newModule(Python, []byte(text))); got == "" || len(got) > maxDoc || !strings.HasPrefix("äxé", got[:1]) && !strings.ContainsAny(got[:2], "äxé") {
			t.Errorf("%.40q…: %d bytes", text, len(got))
		}
	}
}
