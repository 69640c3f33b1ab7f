#!/usr/bin/env python3
# An MCP server of plain lines of JSON, with tools that behave badly.
import sys, json, os, threading, time
name = sys.argv[1]
lock = threading.Lock()
def send(m):
    with lock:
        sys.stdout.write(json.dumps(m) + "\n"); sys.stdout.flush()
def T(n, d, props=None, **more):
    return dict(name=n, description=d, inputSchema={"type":"object","properties":props or {}}, **more)
TOOLS = [
  T("echo", open("/skill/description").read() if os.path.exists("/skill/description") else "Echoes a text, from server "+name, {"text":{"type":"string"}}),
  T("where", "Says where the server runs"),
  T("structured", "Returns a structure", outputSchema={"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}, title="Structured thing"),
  T("image", "Returns an image"),
  T("fails", "Fails"),
  T("refuses", "Answers with an error"),
  T("progress", "Reports progress"),
  T("ask", "Asks the person"),
  T("sample", "Asks the model"),
  T("slow", "Never answers, but honours ping"),
  T("hang", "Hangs the whole server"),
  T("die", "Ends the server"),
  T("garbage", "Prints garbage, then answers"),
  T("foreign", "Answers other ids, too"),
  T("flood", "Prints without end"),
  T("more", "Adds a tool"),
  T("another", "Adds a prompt and a resource"),
  T("touch", "Changes the resources that are followed"),
  T("keep", "Keeps a text in the data folder", {"text":{"type":"string"}}),
  T("counter", "Counts calls"),
  T("sleep", "Takes a while"),
  T("wait", "Never answers"),
  T("doom", "Ends the server when fifty calls wait"),
  T("big", "Has a schema that is too large", {"a": {"description": "x" * (1 << 20)}}) if os.environ.get("BIG") else T("small", "Is small"),
]
PNG="iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
count = waiting = 0
pending = {}
def call(id, p):
    global count, waiting
    n, a, tok = p["name"], p.get("arguments") or {}, (p.get("_meta") or {}).get("progressToken")
    count += 1
    text = lambda t, **m: send(dict(jsonrpc="2.0", id=id, result=dict(content=[dict(type="text", text=t)], **m)))
    if n == "echo": text(name + ": " + a.get("text",""))
    elif n == "where": text(json.dumps(dict(cwd=os.getcwd(), root=os.environ.get("CLAUDE_PLUGIN_ROOT"), greeting=os.environ.get("GREETING"), env=sorted(os.environ), uid=os.getuid(), files=sorted(os.listdir("/skill")))))
    elif n == "structured": send(dict(jsonrpc="2.0", id=id, result=dict(content=[dict(type="text", text='{"n": 7}')], structuredContent={"n":7})))
    elif n == "image": send(dict(jsonrpc="2.0", id=id, result=dict(content=[dict(type="image", data=PNG, mimeType="image/png"), dict(type="resource_link", uri="notes://day/7", name="x")])))
    elif n == "fails": text("it went wrong", isError=True)
    elif n == "refuses": send(dict(jsonrpc="2.0", id=id, error=dict(code=-32602, message="bad argument")))
    elif n == "progress":
        for i in range(3):
            send(dict(jsonrpc="2.0", method="notifications/progress", params=dict(progressToken=tok, progress=i+1, total=3, message="step %d"%(i+1))))
        send(dict(jsonrpc="2.0", method="notifications/message", params=dict(level="warning", data="a log line")))
        print("on stderr", file=sys.stderr, flush=True)
        time.sleep(0.1); text("done")
    elif n in ("ask", "sample"):
        rid = "q%s" % id
        ev = threading.Event(); pending[rid] = [ev, None]
        if n == "ask": send(dict(jsonrpc="2.0", id=rid, method="elicitation/create", params=dict(message="Your colour?", requestedSchema=dict(type="object", properties=dict(colour=dict(type="string")), required=["colour"]))))
        else: send(dict(jsonrpc="2.0", id=rid, method="sampling/createMessage", params=dict(messages=[], maxTokens=1)))
        ev.wait(); text(json.dumps(pending[rid][1]))
    elif n == "slow": pass
    elif n == "hang": os.kill(os.getpid(), 19)
    elif n == "die": print("goodbye, cruel world", file=sys.stderr, flush=True); os._exit(3)
    elif n == "garbage":
        with lock:
            sys.stdout.write("not json\n{\"a\":\n[1,2\n\x00\xff\n{\"jsonrpc\":\"2.0\",\"id\":null}\n{\"id\":{}}\n"); sys.stdout.flush()
        text("after garbage")
    elif n == "foreign":
        for k in range(id-3, id+4):
            if k != id: send(dict(jsonrpc="2.0", id=k, result=dict(content=[dict(type="text", text="forged")])))
        text("own"); text("twice")
    elif n == "flood":
        while True: send(dict(jsonrpc="2.0", method="x", params=dict(a="y"*65536)))
    elif n == "more":
        TOOLS.append(T("added%d" % len(TOOLS), "Added")); send(dict(jsonrpc="2.0", method="notifications/tools/list_changed")); text("added")
    elif n == "another":
        PROMPTS.append(dict(name="new", description="Added")); send(dict(jsonrpc="2.0", method="notifications/prompts/list_changed"))
        RESOURCES.append(dict(uri="notes://new", name="new")); send(dict(jsonrpc="2.0", method="notifications/resources/list_changed")); text("added")
    elif n == "touch":
        for uri in list(FOLLOWED): send(dict(jsonrpc="2.0", method="notifications/resources/updated", params=dict(uri=uri)))
        text("touched %d" % len(FOLLOWED))
    elif n == "keep":
        d = os.environ["CLAUDE_PLUGIN_DATA"]; f = d + "/kept"
        old = open(f).read() if os.path.exists(f) else None
        if a.get("text"): open(f, "w").write(a["text"])
        text(json.dumps(dict(old=old, dir=d)))
    elif n == "counter": text(str(count))
    elif n == "wait":
        with lock: waiting += 1
        time.sleep(1000)
    elif n == "doom":
        while waiting < 50: time.sleep(0.01)
        os._exit(9)
    elif n == "sleep": time.sleep(0.05); text("slept")
    else: send(dict(jsonrpc="2.0", id=id, error=dict(code=-32602, message="unknown tool")))
PROMPTS = [
  dict(name="greet", title="Greeting", description="Greets someone", arguments=[dict(name="who", description="Whom", required=True), dict(name="how")]),
  dict(name="echo", description="Has the name of a tool"),
]
RESOURCES = [dict(uri="notes://today", name="today", description="Notes of today", mimeType="text/markdown"), dict(uri="notes://picture", name="picture", mimeType="image/png")]
FOLLOWED = set()
def answer(m):
    p, reply = m.get("params") or {}, None
    text = lambda role, t: dict(role=role, content=dict(type="text", text=t))
    if m["method"] == "prompts/list": reply = dict(prompts=PROMPTS)
    elif m["method"] == "resources/list": reply = dict(resources=RESOURCES)
    elif m["method"] == "resources/templates/list": reply = dict(resourceTemplates=[dict(uriTemplate="notes://day/{day}", name="day", description="Notes of a day")])
    elif m["method"] == "resources/subscribe": FOLLOWED.add(p["uri"]); reply = {}
    elif m["method"] == "prompts/get" and p["name"] == "greet":
        print("a line beside", file=sys.stderr, flush=True)
        a = p.get("arguments") or {}
        reply = dict(description="From " + name, messages=[text("user", "Greet %s %s" % (a["who"], a.get("how"))), text("assistant", "I am " + name),
            dict(role="user", content=dict(type="resource", resource=dict(uri="notes://today", mimeType="text/plain", text="embedded")))])
    elif m["method"] == "prompts/get": reply = dict(messages=[text("user", "The prompt of " + name)])
    elif m["method"] == "resources/read" and p["uri"] == "notes://today":
        print("a line beside", file=sys.stderr, flush=True)
        reply = dict(contents=[dict(uri=p["uri"], mimeType="text/markdown", text=name + os.environ.get("SECRETLY", "") + "x" * 100000), dict(uri=p["uri"] + "#2", text="second")])
    elif m["method"] == "resources/read" and p["uri"] == "notes://picture": reply = dict(contents=[dict(uri=p["uri"], mimeType="image/png", blob=PNG)])
    elif m["method"] == "resources/read" and p["uri"].startswith("notes://day/"): reply = dict(contents=[dict(uri=p["uri"], text=p["uri"])])
    elif m["method"] == "resources/read" and p["uri"] == "notes://none": reply = dict(contents=[])
    if reply is None: send(dict(jsonrpc="2.0", id=m["id"], error=dict(code=-32002, message="there is no such thing")))
    else: send(dict(jsonrpc="2.0", id=m["id"], result=reply))
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize": send(dict(jsonrpc="2.0", id=m["id"], result=dict(protocolVersion="2025-06-18", capabilities=dict(tools=dict(listChanged=True), prompts=dict(listChanged=True), resources=dict(listChanged=True, subscribe=True)), serverInfo=dict(name=name, version="1"), instructions="Use echo of %s first."%name)))
    elif m.get("method") == "tools/list": send(dict(jsonrpc="2.0", id=m["id"], result=dict(tools=TOOLS)))
    elif m.get("method") == "ping": send(dict(jsonrpc="2.0", id=m["id"], result={}))
    elif m.get("method", "").split("/")[0] in ("prompts", "resources"): answer(m)
    elif m.get("method") == "tools/call": threading.Thread(target=call, args=(m["id"], m["params"]), daemon=True).start()
    elif "method" not in m and m.get("id") in pending: pending[m["id"]][1] = m.get("result") or m.get("error"); pending[m["id"]][0].set()
