package docker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// What Linux passes to a program: execve(2), "Limits on size of arguments and
// environment". The total leaves room for what the engine and the image add.
const (
	maxString = 128<<10 - 1
	maxTotal  = 2<<20 - 64<<10
)

// checkStrings refuses what could not reach the program as it is. The engine
// would say so less clearly, or change it without a word.
func checkStrings(argv, env []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return errors.New("run command: it names no program")
	}
	total := 0
	for _, s := range slices.Concat(argv, env) {
		if err := checkString(s); err != nil {
			name, _, _ := strings.Cut(s, "=")
			return fmt.Errorf("pass argument or variable %.40q: %w", name, err)
		}
		total += len(s) + 1 + 8 // with its end and a pointer to it
	}
	if total > maxTotal {
		return fmt.Errorf("pass arguments and environment: they are %s, and a program takes at most %s", sandbox.Bytes(int64(total)), sandbox.Bytes(maxTotal))
	}
	for _, entry := range env {
		if name, _, found := strings.Cut(entry, "="); !found || name == "" {
			return fmt.Errorf("pass variable %.40q: it is not NAME=value", entry)
		}
	}
	return nil
}

func checkString(s string) error {
	switch {
	case len(s) > maxString:
		return fmt.Errorf("it is %s, and a program takes at most 128 KB in one", sandbox.Bytes(int64(len(s))))
	case strings.ContainsRune(s, 0):
		return errors.New("it has a NUL byte in it")
	case !utf8.ValidString(s):
		return errors.New("it is not UTF-8, and the Docker Engine API cannot carry it")
	}
	return nil
}
