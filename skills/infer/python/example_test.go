package python_test

import (
	"encoding/json"
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills/infer/python"
)

// The arguments of a script are read from its source. The script never runs.
func ExampleRead() {
	script := python.Read("report.py", []byte(`
import argparse
parser = argparse.ArgumentParser(description="Make a report.")
parser.add_argument("file")
parser.add_argument("--top", type=int, default=10, help="how many rows")
args = parser.parse_args()
`))
	schema, err := json.Marshal(script.CommandLine.Schema())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(schema))
	argv, err := script.CommandLine.Argv(map[string]any{"file": "a.csv", "top": json.Number("3")})
	fmt.Println(argv, err)
	// Output:
	// {"properties":{"file":{"type":"string"},"top":{"type":"integer","description":"how many rows","default":10}},"additionalProperties":false,"type":"object","required":["file"]}
	// [--top=3 a.csv] <nil>
}
