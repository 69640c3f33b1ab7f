package agents

import (
	"os"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }
