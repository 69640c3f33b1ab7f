package python

import (
	"encoding/json"
	"testing"
)

func TestTools(t *testing.T) {
	found := Tools([]byte(`
from typing import Annotated, Any, List, Literal, Optional, Union
from langchain_core.tools import tool, InjectedToolArg
import langchain_core.tools as lt
MODES = ["fast"]

@tool
def search(query: str, limit: int = 10, tags: list[str] = [], mode: Literal["a", "b"] = "a") -> str:
    """Searches.

    Args:
        query: What to look for,
            in words.
        limit (int): How many.
    """

@other
@lt.tool("renamed", return_direct=True)
async def second(a: Optional[float] = None, b: "int | None" = 3, c: Annotated[str, "the c"] = MODES[0], d: Union[int, str] = 1, *args: int, e: List[List[int]], f: dict, run_manager=None, g: Annotated[str, InjectedToolArg()] = "", **kw: Any) -> str:
    pass

@tool(args_schema=Model, description="Described.")
def third(x: Model): ...

def plain(x: int): ...

class A:
    @tool
    def inner(self): ...
`))
	data, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"Name":"search","Python":"search","Line":8,"Doc":"Searches.\n\nArgs:\n    query: What to look for,\n        in words.\n    limit (int): How many.",` +
		`"Params":{"properties":{"query":{"type":"string"},"limit":{"type":"integer","default":10},"tags":{"items":{"type":"string"},"type":"array","default":[]},"mode":{"type":"string","enum":["a","b"],"default":"a"}},"additionalProperties":false,"type":"object","required":["query"]}},` +
		`{"Name":"renamed","Python":"second","Line":19,"Doc":"",` +
		`"Params":{"properties":{"a":{"type":"number"},"b":{"type":"integer","default":3},"c":{"type":"string","description":"the c","default":"fast"},"d":{"description":"Any value.","default":1},"e":{"items":{"items":{"type":"integer"},"type":"array"},"type":"array"},"f":{"type":"object"}},"additionalProperties":false,"type":"object","required":["e","f"]}},` +
		`{"Name":"third","Python":"third","Line":23,"Doc":"Described.","Params":{"properties":{},"type":"object"}}]`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}
