# Call one function of a Python file, by its path and its name, with the JSON
# object on standard input as its keyword arguments. What it returns is printed:
# text as it is, anything else as JSON. What the file itself prints while it is
# loaded or runs goes to standard error.
import contextlib
import enum
import importlib.util
import inspect
import json
import os
import sys
import types
import typing


def tool(*args, **kwargs):
    """Stand in for langchain's decorator: the function stays a function."""
    if len(args) == 1 and callable(args[0]):
        return args[0]
    if len(args) == 2 and callable(args[1]):  # tool(name, function)
        return args[1]
    return lambda function: function


def fields(model):
    """Return the annotated names of a class, with their types."""
    try:
        return typing.get_type_hints(model)
    except Exception:  # a type that is only there for type checkers
        return {name: None for c in reversed(model.__mro__) for name in vars(c).get("__annotations__", {})}


class BaseModel:
    """Stand in for pydantic's: fields and defaults, without validation, which the
    caller has done with the schema."""

    def __init__(self, **values):
        for name, kind in fields(type(self)).items():
            if name in values:
                value = values.pop(name)
                if isinstance(kind, type) and issubclass(kind, BaseModel) and isinstance(value, dict):
                    value = kind(**value)
                elif isinstance(kind, type) and issubclass(kind, enum.Enum):
                    value = kind(value)
            else:
                value = getattr(type(self), name, ...)
                if isinstance(value, Field):
                    value = value.made()
                if value is ... and name.startswith("_"):
                    continue
                if value is ...:
                    raise TypeError(f"missing a required argument: {name!r}")
            setattr(self, name, value)
        if values and type(self).__init__ is BaseModel.__init__:
            raise TypeError(f"got an unexpected argument {next(iter(values))!r}")

    def model_dump(self):
        return {name: getattr(self, name) for name in fields(type(self))}

    dict = model_dump


class Field:
    def __init__(self, default=..., default_factory=None, **_):
        self.default, self.factory = default, default_factory

    def made(self):
        return self.factory() if self.factory else self.default


class BaseTool(BaseModel):
    """Stand in for langchain's: arguments go through args_schema to _run."""

    name = description = ""
    args_schema = None

    def invoke(self, arguments, config=None):
        return self._run(**self.parsed(arguments))

    def ainvoke(self, arguments, config=None):
        return self._arun(**self.parsed(arguments))

    def parsed(self, arguments):
        schema = self.args_schema
        if isinstance(schema, Field):
            schema = schema.made()
        if not isinstance(schema, type):
            return arguments
        names = getattr(schema, "model_fields", None) or fields(schema)
        model = schema(**arguments)
        return {name: getattr(model, name) for name in names}

    def _run(self, *args, **kwargs):
        raise NotImplementedError("there is no _run")

    async def _arun(self, *args, **kwargs):
        return self._run(*args, **kwargs)


class StructuredTool:
    """Stand in for a tool that is made of a function."""

    def __init__(self, name=None, func=None, description="", coroutine=None, **_):
        self.func, self.coroutine, self.description = func, coroutine, description
        self.name = name or getattr(func or coroutine, "__name__", "")

    @classmethod
    def from_function(cls, func=None, coroutine=None, name=None, description="", **_):
        return cls(name, func, description, coroutine)

    def invoke(self, arguments, config=None):
        return self.func(**arguments)


def stand_in():
    """Offer what tools are made with where langchain or pydantic is not installed.
    Names that are only written in annotations are offered as empty classes."""
    made = {"tool": tool, "BaseTool": BaseTool, "StructuredTool": StructuredTool, "Tool": StructuredTool, "ToolException": type("ToolException", (Exception,), {})}
    model = {"BaseModel": BaseModel, "Field": Field, "PrivateAttr": Field, "ConfigDict": dict}
    empty = dict.fromkeys(("InjectedToolArg", "InjectedToolCallId", "CallbackManagerForToolRun", "AsyncCallbackManagerForToolRun", "Callbacks", "RunnableConfig"))
    empty = {name: type(name, (), {}) for name in empty}
    provide({"pydantic": model, "pydantic.v1": model})
    provide({name: {**made, **empty} for name in ("langchain_core.tools", "langchain_core.tools.base", "langchain.tools", "langchain.tools.base", "langchain.agents")})
    provide({name: empty for name in ("langchain_core.callbacks", "langchain_core.callbacks.manager", "langchain.callbacks.manager", "langchain_core.runnables", "langchain_core.runnables.config")})
    provide({name: model for name in ("langchain_core.pydantic_v1", "langchain.pydantic_v1")})


def provide(modules):
    for name, names in modules.items():
        if not installed(name):
            module = types.ModuleType(name)
            module.__path__ = []
            vars(module).update(names)
            sys.modules[name] = module
            parent, _, child = name.rpartition(".")
            while parent and not installed(parent):
                package = sys.modules.setdefault(parent, types.ModuleType(parent))
                package.__path__ = getattr(package, "__path__", [])
                setattr(package, child, sys.modules[f"{parent}.{child}"])
                parent, _, child = parent.rpartition(".")


def installed(name):
    with contextlib.suppress(Exception):
        return importlib.util.find_spec(name) is not None
    return False


def inline(text):
    """Return the Python code in the Markdown of a text that defines tools, at its lines."""
    code, block, inside = [], [], False
    for line in text.split("\n") + ["```"]:
        line = line.rstrip()
        fence = line.split(" ")[0].lower()
        if inside and fence == "```":
            kept = any(l.startswith("@tool") or "(BaseTool)" in l for l in block)
            code += block if kept else [""] * len(block)
            block, inside = [], False
            code.append("")
        elif inside:
            block.append(line)
        else:
            inside = fence in ("```python", "```py", "```python3")
            code.append("")
    code[0] = "from langchain_core.tools import BaseTool, tool"  # the first line is a fence
    return "\n".join(code)


def load(path):
    folder, file = os.path.split(os.path.abspath(path))
    sys.path.insert(0, folder)
    if file.lower().endswith(".md"):
        module = types.ModuleType("skill")
        module.__file__ = path
        sys.modules["skill"] = module
        with open(path, encoding="utf-8-sig") as manifest:
            exec(compile(inline(manifest.read()), path, "exec"), vars(module))
        return module
    spec = importlib.util.spec_from_file_location(os.path.splitext(file)[0], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def find(module, name):
    """Return what a tool calls, be it a function or one of langchain's tools."""
    found = getattr(module, name, None)
    if found is None:  # a tool may have another name than its function
        for value in vars(module).values():
            if getattr(value, "name", None) == name and hasattr(value, "invoke"):
                found = value
                break
    if found is None:
        sys.exit(f"there is no function {name} in {module.__file__}")
    if isinstance(found, type) and hasattr(found, "invoke"):
        return running(found())
    for attribute in ("func", "coroutine"):
        if hasattr(found, "invoke") and callable(getattr(found, attribute, None)):
            return getattr(found, attribute)
    if hasattr(found, "invoke"):
        return lambda **arguments: found.invoke(arguments)
    if not callable(found):
        sys.exit(f"{name} in {module.__file__} is not a function")
    return found


def running(made):
    """Return what a tool with a class of its own does: _run, else _arun."""

    def run(**arguments):
        try:
            return made.invoke(arguments)
        except NotImplementedError:
            return made.ainvoke(arguments)

    return run


def main():
    path, name = sys.argv[1], sys.argv[2]
    arguments = json.loads(sys.stdin.readline())  # what follows is answers, if it asks
    sys.argv = [path]
    with contextlib.redirect_stdout(sys.stderr):
        stand_in()
        function = find(load(path), name)
        try:
            inspect.signature(function).bind(**arguments)
        except TypeError as error:
            sys.exit(f"{name}: {error}")
        except ValueError:
            pass  # it does not say what it takes
        result = function(**arguments)
        if inspect.isawaitable(result):
            import asyncio  # which takes long

            async def wait():
                return await result

            result = asyncio.run(wait())
    if isinstance(result, str):
        print(result)
    elif result is not None:
        print(json.dumps(result, ensure_ascii=False, default=str))


main()
