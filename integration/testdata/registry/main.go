// Command offline says what the MCP registry would of a server.json, by the
// registry's own rules. Its publisher's "validate" asks a registry; what that
// answers is this. It is a module of its own so that ours does not depend on the
// registry. What needs the network, whether the packages can be had, is left
// out.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/registry/internal/validators"
	apiv0 "github.com/modelcontextprotocol/registry/pkg/api/v0"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var server apiv0.ServerJSON
	if err := json.Unmarshal(data, &server); err != nil {
		return err
	}
	result := validators.ValidateServerJSON(&server, validators.ValidationAll)
	for _, issue := range result.Issues {
		fmt.Fprintf(os.Stderr, "%s %s: %s\n", issue.Severity, issue.Path, issue.Message)
	}
	if !result.Valid || len(result.Issues) > 0 {
		return fmt.Errorf("%s is not valid", file)
	}
	return nil
}
