# Serves a Conduit plugin, a Python package, as an MCP server. It runs as the program of
# "python3 -c", with the path of the package's __init__.py as its argument. The protocol is
# written to descriptor 3, so that nothing that the plugin prints gets into it.
import asyncio
import importlib.util
import inspect
import json
import os
import re
import sys
import threading
import traceback
import types

LOAD_SECONDS = 20
HOOK_SECONDS = 10
MAX_INSTRUCTIONS = 16000
AROUND = ("before_tool_call", "after_tool_call")
AGENT = ("before_agent_start", "message_received", "message_sending")
EVENTS = ("on_startup", "on_shutdown") + AROUND + AGENT
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

os.set_inheritable(3, False)
wire = os.fdopen(3, "wb")
requests = os.fdopen(os.dup(0), "rb")
nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(nothing, 0)
os.close(nothing)
sys.dont_write_bytecode = True  # its folder is read-only

pid = os.getpid()
write_lock = threading.Lock()
loop = asyncio.new_event_loop()
tools, hooks, skills, tasks = {}, {}, [], {}
serving = False


def send(message):
    text = json.dumps(dict(message, jsonrpc="2.0"), allow_nan=False).encode() + b"\n"
    with write_lock:
        wire.write(text)
        wire.flush()


def show(error, folder):
    # Without the frames of this program.
    frames = error.__traceback__
    while frames and not frames.tb_frame.f_code.co_filename.startswith(folder):
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)
    sys.stderr.flush()


def last_line(error):
    return traceback.format_exception_only(type(error), error)[-1].strip()


class PluginAPI:
    """What a plugin's register(api) is given."""

    def __init__(self, id, config):
        self.id, self.config = id, config

    def register_tool(self, name, description, parameters, handler, permission="none"):
        if not isinstance(name, str) or not name:
            raise TypeError("the name of a tool is a text")
        if name in tools:
            raise ValueError("the tool %r is registered already" % name)
        if not isinstance(parameters or {}, dict):
            raise TypeError("the parameters of the tool %r are a JSON Schema, a dict" % name)
        if not callable(handler):
            raise TypeError("the handler of the tool %r is not callable" % name)
        schema = dict({"type": "object"}, **(parameters or {}))
        listed = {"name": name, "description": str(description or ""), "inputSchema": schema, "_meta": {"skills-mcp/permission": str(permission)}}
        json.dumps(listed, allow_nan=False)
        tools[name] = (listed, handler)
        if serving:
            send({"method": "notifications/tools/list_changed"})

    def register_hook(self, event, handler):
        if event not in EVENTS:
            self.log("warning", "the hook %s is not run; there are %s" % (event, ", ".join(EVENTS)))
        hooks.setdefault(event, []).append(handler)

    def register_skill(self, name, description, content):
        text = "# %s\n\n%s\n\n%s" % (name, description, content)
        if serving:
            raise RuntimeError("register_skill can be called in register() alone")
        if sum(len(t.encode()) for t in skills) + len(text.encode()) > MAX_INSTRUCTIONS:
            raise ValueError("the skills of a plugin's code have at most %d bytes; put a SKILL.md into its folder" % MAX_INSTRUCTIONS)
        skills.append(text)

    def log(self, level, message):
        level = {"warn": "warning", "fatal": "critical"}.get(str(level).lower(), str(level).lower())
        level = level if level in LEVELS else "info"
        if serving:
            send({"method": "notifications/message", "params": {"level": level, "logger": self.id, "data": str(message)}})
        else:
            print("[%s] %s" % (level, message), file=sys.stderr, flush=True)


def offer_sdk():
    for name in ("conduit", "skills_mcp"):
        package, sdk = types.ModuleType(name), types.ModuleType(name + ".plugin_sdk")
        package.__path__, package.plugin_sdk, sdk.PluginAPI = [], sdk, PluginAPI
        sys.modules[name], sys.modules[sdk.__name__] = package, sdk


def load(entry, api):
    late = threading.Timer(LOAD_SECONDS, give_up)
    late.daemon = True
    late.start()
    folder = api.folder
    name = re.sub(r"\W", "_", api.id)
    if importlib.util.find_spec(name):
        name = "plugin_" + name
    sys.path[0] = folder
    spec = importlib.util.spec_from_file_location(name, entry, submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    result = module.register(api)
    if inspect.isawaitable(result):
        loop.run_until_complete(wait(result))
    late.cancel()


async def wait(awaitable):
    return await awaitable


def give_up():
    print("register(api) did not return within %d seconds" % LOAD_SECONDS, file=sys.stderr, flush=True)
    os._exit(3)


async def in_thread(function, *args, **kwargs):
    # A thread for each call: one that never returns holds up no other.
    future = loop.create_future()

    def finish(settle, value):
        if not future.done():
            settle(value)

    def work():
        try:
            settle, value = future.set_result, function(*args, **kwargs)
        except BaseException as error:
            # A future takes no StopIteration, and a SystemExit would end the loop.
            settle, value = future.set_exception, Failure(error)
        if os.getpid() != pid:  # the function has forked, and this is the child
            os._exit(0)
        loop.call_soon_threadsafe(finish, settle, value)

    threading.Thread(target=work, daemon=True).start()
    return await future


class Failure(Exception):
    def __init__(self, error):
        self.error = error


async def invoke(function, *args, **kwargs):
    if inspect.iscoroutinefunction(function):
        result = function(*args, **kwargs)
    else:
        result = await in_thread(function, *args, **kwargs)
    return await result if inspect.isawaitable(result) else result


async def run_hooks(api, event, merge=None, **kwargs):
    for hook in hooks.get(event, ()):
        try:
            result = await asyncio.wait_for(invoke(hook, **kwargs), HOOK_SECONDS)
            if merge:
                merge(kwargs, result)
        except asyncio.TimeoutError:
            api.log("error", "a hook %s of %s took more than %d seconds, and is skipped" % (event, api.id, HOOK_SECONDS))
        except Exception as error:
            api.log("error", "a hook %s of %s failed, and is skipped: %s" % (event, api.id, last_line(getattr(error, "error", error))))
    return kwargs


def merge_arguments(kwargs, result):
    if isinstance(result, dict):
        kwargs["args"] = dict(kwargs["args"], **result)


def merge_result(kwargs, result):
    if isinstance(result, str):
        kwargs["result"] = result


def merge_prompt(kwargs, result):
    if isinstance(result, dict) and isinstance(result.get("system_prompt"), str):
        kwargs["system_prompt"] = result["system_prompt"]


def merge_message(kwargs, result):
    text = result.get("message") if isinstance(result, dict) else result
    if isinstance(text, str):
        kwargs["message"] = text


async def call_tool(api, name, args):
    handler = tools[name][1]
    args = (await run_hooks(api, "before_tool_call", merge_arguments, tool_name=name, args=args))["args"]
    value = await invoke(handler, **args)
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, allow_nan=False, ensure_ascii=False)
    after = (await run_hooks(api, "after_tool_call", merge_result, tool_name=name, args=args, result=text))["result"]
    result = {"content": [{"type": "text", "text": after}]}
    if after == text and isinstance(value, dict):
        result["structuredContent"] = value
    elif after == text and isinstance(value, list):
        result["structuredContent"] = {"result": value}
    return result


async def answer_call(api, id, params):
    try:
        name = params.get("name")
        if name not in tools:
            send({"id": id, "error": {"code": -32602, "message": "there is no tool %r" % name}})
            return
        send({"id": id, "result": await call_tool(api, name, params.get("arguments") or {})})
    except asyncio.CancelledError:
        send({"id": id, "error": {"code": -32800, "message": "cancelled"}})
    except BaseException as error:
        error = getattr(error, "error", error)
        show(error, api.folder)
        send({"id": id, "result": {"isError": True, "content": [{"type": "text", "text": last_line(error)}]}})
    finally:
        tasks.pop(id, None)


async def answer_hook(api, id, params):
    # Around a call of another tool: the hooks get its arguments, and after it its result. Or
    # in the session of an agent.
    event, call = params["event"], params["call"]
    merge = {"before_tool_call": merge_arguments, "after_tool_call": merge_result, "before_agent_start": merge_prompt}.get(event, merge_message)
    send({"id": id, "result": await run_hooks(api, event, merge, **call)})


def receive(api, line):
    try:
        message = json.loads(line)
        method, id, params = message["method"], message.get("id"), message.get("params") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    if method == "notifications/cancelled":
        task = tasks.get(params.get("requestId"))
        if task:
            task.cancel()
    if id is None:
        return
    if method == "initialize":
        send({"id": id, "result": {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": {"tools": {"listChanged": True}, "logging": {}, "experimental": {"skills-mcp": {"hooks": [event for event in AROUND + AGENT if hooks.get(event)]}}},
            "serverInfo": {"name": api.id, "version": api.version},
            "instructions": "\n\n".join(skills)}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [listed for listed, _ in list(tools.values())]}})
    elif method == "skills-mcp/hook":
        loop.create_task(answer_hook(api, id, params))
    elif method == "tools/call":
        tasks[id] = loop.create_task(answer_call(api, id, params))
    elif method in ("ping", "logging/setLevel"):
        send({"id": id, "result": {}})
    else:
        send({"id": id, "error": {"code": -32601, "message": "%s is not offered" % method}})


def read(api, ended):
    for line in requests:
        loop.call_soon_threadsafe(receive, api, line)
    loop.call_soon_threadsafe(ended.set)


async def serve(api):
    ended = asyncio.Event()
    await run_hooks(api, "on_startup")
    threading.Thread(target=read, args=(api, ended), daemon=True).start()
    await ended.wait()
    await run_hooks(api, "on_shutdown")


def refuse(api, reason):
    for line in requests:
        try:
            id = json.loads(line).get("id")
        except (ValueError, AttributeError):
            continue
        if id is not None:
            send({"id": id, "error": {"code": -32000, "message": "the plugin %s does not load: %s" % (api.id, reason)}})
            return


def main():
    global serving
    given = json.loads(os.environ.pop("SKILLS_MCP_PLUGIN"))
    config = given["config"]
    for key, variable in given["secrets"].items():
        config[key] = os.environ[variable]
    api = PluginAPI(given["id"], config)
    api.version, api.folder = given["version"], os.path.dirname(sys.argv[1])
    offer_sdk()
    asyncio.set_event_loop(loop)
    status = 0
    try:
        load(sys.argv[1], api)
    except BaseException as error:
        show(error, api.folder)
        refuse(api, last_line(error))
        status = 3
    if os.getpid() == pid and status == 0:  # a child that register(api) has forked serves nothing
        serving = True
        loop.run_until_complete(serve(api))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # threads may never end


main()
