# Call one function of a Python file, by its path and its name, with the JSON
# object on standard input as its keyword arguments. What it returns is printed:
# text as it is, anything else as JSON. What the file itself prints while it is
# loaded or runs goes to standard error.
import contextlib
import importlib.util
import inspect
import json
import os
import sys
import types


def tool(*args, **kwargs):
    """Stand in for langchain's decorator: the function stays a function."""
    if len(args) == 1 and callable(args[0]):
        return args[0]
    if len(args) == 2 and callable(args[1]):  # tool(name, function)
        return args[1]
    return lambda function: function


def stand_in():
    """Offer the decorator where langchain is not installed."""
    for name in ("langchain_core.tools", "langchain.tools", "langchain.agents"):
        with contextlib.suppress(Exception):
            if importlib.util.find_spec(name) is not None:
                continue
        parent, _, child = name.rpartition(".")
        module = types.ModuleType(name)
        module.tool = tool
        sys.modules[name] = module
        with contextlib.suppress(Exception):
            if importlib.util.find_spec(parent) is not None:
                continue
        package = sys.modules.setdefault(parent, types.ModuleType(parent))
        package.__path__ = getattr(package, "__path__", [])
        setattr(package, child, module)


def load(path):
    folder, file = os.path.split(os.path.abspath(path))
    sys.path.insert(0, folder)
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
    for attribute in ("func", "coroutine"):
        if hasattr(found, "invoke") and callable(getattr(found, attribute, None)):
            return getattr(found, attribute)
    if hasattr(found, "invoke"):
        return lambda **arguments: found.invoke(arguments)
    if not callable(found):
        sys.exit(f"{name} in {module.__file__} is not a function")
    return found


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
