// Command needs says which tests "go test ./..." skips on this machine: one line
// for each thing that is missing. Run it in the repository's top folder.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

func main() {
	missing := 0
	for _, need := range lab.Needs() {
		if err := need.Missing(context.Background()); err != nil {
			missing++
			fmt.Printf("skipped: tests of %s: %s → %s\n", need.Tests, strings.Join(strings.Fields(err.Error()), " "), need.Get)
		}
	}
	if missing == 0 {
		fmt.Println("nothing is missing: go test ./... skips no test for want of a program")
	}
}
