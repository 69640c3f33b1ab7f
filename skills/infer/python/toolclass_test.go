package python

import (
	"encoding/json"
	"testing"
)

func TestToolClasses(t *testing.T) {
	found := Tools([]byte(`
import enum
from typing import ClassVar, List, Optional, Type
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel, Field

class Mode(str, enum.Enum):
    fast = "f"
    slow = "s"

class Point(BaseModel):
    x: float = Field(..., description="East.")

class Base(BaseModel):
    query: str = Field(description="What to look for.")
    limit: int = 1

class SearchInput(Base):
    limit: int = Field(default=10, ge=1, le=50)
    tags: List[str] = Field(default_factory=list)
    mode: Mode = Mode.fast
    at: Optional[Point] = None
    kind: ClassVar[str] = "x"
    _own: int = 0

class Search(BaseTool):
    """The class."""
    name: str = "web_search"
    description: str = (
        "Searches "
        "the web.")
    args_schema: Type[BaseModel] = SearchInput

    def _run(self, query, limit, tags, mode, at=None):
        return query

class _Hidden(BaseTool):
    def _run(self, a): ...

class Plain(BaseTool):
    """Says it."""
    retries: int = 3
    async def _arun(self, text: str, loud: bool = False, run_manager=None): ...

class Abstract(BaseTool):
    name: str = "abstract"

class Own(Abstract):
    name: str = "own"
    api_key: str
    def _run(self): ...

class Made(BaseTool):
    def __init__(self, client, retries=3): ...
    def _run(self, a: int): ...

class Other(Exception):
    def _run(self, a): ...

@tool(args_schema=Point)
def move(x): "Moves."
`))
	data, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"Name":"web_search","Python":"Search","Line":26,"Doc":"Searches the web.","Params":{"properties":{"query":{"type":"string","description":"What to look for."},"limit":{"type":"integer","maximum":50,"minimum":1,"default":10},"tags":{"items":{"type":"string"},"type":"array"},"mode":{"type":"string","enum":["f","s"],"default":"f"},"at":{"properties":{"x":{"type":"number","description":"East."}},"additionalProperties":false,"type":"object","required":["x"]}},"additionalProperties":false,"type":"object","required":["query"]}},` +
		`{"Name":"Plain","Python":"Plain","Line":40,"Doc":"Says it.","Params":{"properties":{"text":{"type":"string"},"loud":{"type":"boolean","default":false}},"additionalProperties":false,"type":"object","required":["text"]}},` +
		`{"Name":"own","Python":"Own","Line":48,"Doc":"","Params":{"properties":{},"additionalProperties":false,"type":"object"},"Needs":["api_key"]},` +
		`{"Name":"Made","Python":"Made","Line":53,"Doc":"","Params":{"properties":{"a":{"type":"integer"}},"additionalProperties":false,"type":"object","required":["a"]},"Needs":["client"]},` +
		`{"Name":"move","Python":"move","Line":61,"Doc":"Moves.","Params":{"properties":{"x":{"type":"number","description":"East."}},"additionalProperties":false,"type":"object","required":["x"]}}]`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

// A model that names itself has a schema, too.
func TestModelsInModels(t *testing.T) {
	found := Tools([]byte("from langchain.tools import BaseTool\nfrom pydantic import BaseModel\nclass Node(BaseModel):\n  next: 'Node'\nclass T(BaseTool):\n  args_schema: type = Node\n  def _run(self, next): ...\n"))
	if len(found) != 1 {
		t.Fatal(found)
	}
	if _, err := json.Marshal(found[0].Params); err != nil {
		t.Error(err)
	}
}
