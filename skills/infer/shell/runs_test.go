package shell

import "testing"

func TestRuns(t *testing.T) {
	const def = "set -e\nlog() { echo \"$1\"; }\n"
	for source, want := range map[string]bool{
		"":                                     true,
		"echo hello":                           true,
		def:                                    false,
		def + "export X=1\nreadonly Y":         false,
		def + "log hello":                      true,
		def + "echo \"$(log x)\"":              true,
		def + "echo \"$X\"":                    true,
		def + "echo loaded":                    false,
		def + "[ $# = 0 ] && log x":            true,
		def + "[ -n \"$X\" ] || X=1":           false,
		def + "case $1 in a) ;; esac":          true,
		def + "if x; then log; fi":             true,
		def + "(":                              true,
		def + ". ./other.sh\nsource a":         false,
		def + "if [ x ]; then :; else log; fi": true,
		def + "[[ \"$0\" == \"$BASH_SOURCE\" ]] && { echo \"source $0\"; exit 1; }": false,
	} {
		if got := NewModule([]byte(source)).Runs(); got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}
