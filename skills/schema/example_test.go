package schema_test

import (
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// Faults are worded for the model that wrote the arguments.
func ExampleCompile() {
	compiled, err := schema.Compile([]byte(`{"type": "object", "properties": {"top": {"type": "integer", "minimum": 1}}}`), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(compiled.Check([]byte(`{"top": 0}`)))
	// Output:
	// at '/top': minimum: got 0, want 1
}
