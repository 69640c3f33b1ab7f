// Serves a Conduit plugin, an ES module, as an MCP server. It runs as the program of
// "node --input-type=module --eval", with the path of the module as its argument. The
// protocol is written to descriptor 3, so that nothing that the plugin prints gets into it.
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"

const loadSeconds = 20, hookSeconds = 10, maxInstructions = 16000
const agent = ["before_agent_start", "message_received", "message_sending"]
const called = ["before_tool_call", "after_tool_call", ...agent], events = ["on_startup", "on_shutdown", ...called]
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
const given = JSON.parse(process.env.SKILLS_MCP_PLUGIN)
delete process.env.SKILLS_MCP_PLUGIN
const tools = new Map(), hooks = new Map(), skills = [], cancelled = new Set(), running = new Set()
let serving = false

function send(message) {
  const text = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n")
  for (let at = 0; at < text.length;) at += writeSync(3, text, at)
}

function lastLine(error) {
  return error instanceof Error ? error.name + ": " + error.message : String(error)
}

class PluginAPI {
  constructor(id, config) {
    this.id = id
    this.config = config
  }

  register_tool(name, description, parameters, handler, permission = "none") {
    if (typeof name === "object" && name) ({ name, description, parameters, handler, permission = "none" } = name)
    if (typeof name !== "string" || !name) throw new TypeError("the name of a tool is a text")
    if (tools.has(name)) throw new Error("the tool " + name + " is registered already")
    if (typeof (parameters ?? {}) !== "object" || Array.isArray(parameters)) throw new TypeError("the parameters of the tool " + name + " are a JSON Schema, an object")
    if (typeof handler !== "function") throw new TypeError("the handler of the tool " + name + " is not a function")
    const listed = { name, description: String(description ?? ""), inputSchema: { type: "object", ...parameters }, _meta: { "skills-mcp/permission": String(permission) } }
    JSON.stringify(listed)
    tools.set(name, { listed, handler })
    if (serving) send({ method: "notifications/tools/list_changed" })
  }

  register_hook(event, handler) {
    if (!events.includes(event)) this.log("warning", "the hook " + event + " is not run; there are " + events.join(", "))
    hooks.set(event, [...hooks.get(event) ?? [], handler])
  }

  register_skill(name, description, content) {
    const text = "# " + name + "\n\n" + description + "\n\n" + content
    if (serving) throw new Error("register_skill can be called in register() alone")
    if (Buffer.byteLength([...skills, text].join("")) > maxInstructions) throw new Error("the skills of a plugin's code have at most " + maxInstructions + " bytes; put a SKILL.md into its folder")
    skills.push(text)
  }

  log(level, message) {
    level = String(level).toLowerCase()
    level = { warn: "warning", fatal: "critical" }[level] ?? level
    if (!levels.includes(level)) level = "info"
    if (serving) send({ method: "notifications/message", params: { level, logger: this.id, data: String(message) } })
    else console.error("[" + level + "] " + message)
  }
}

// within settles as work does, or fails with a message after some seconds.
async function within(seconds, work, message) {
  let timer
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(message)), seconds * 1000) })
  try {
    return await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}

async function runHooks(event, args, merge) {
  for (const hook of hooks.get(event) ?? []) {
    try {
      const result = await within(hookSeconds, async () => hook(...args), "it took more than " + hookSeconds + " seconds")
      merge?.(result)
    } catch (error) {
      api.log("error", "a hook " + event + " of " + api.id + " failed, and is skipped: " + lastLine(error))
    }
  }
}

async function callTool(name, args) {
  const call = [name, args]
  await runHooks("before_tool_call", call, merge(call))
  const value = await tools.get(name).handler(call[1])
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null) ?? ""
  const after = [...call, value == null ? "" : text]
  const before = after[2]
  await runHooks("after_tool_call", after, merge(after))
  const result = { content: [{ type: "text", text: after[2] }] }
  if (after[2] === before && value && typeof value === "object") result.structuredContent = Array.isArray(value) ? { result: value } : value
  return result
}

async function answerCall(id, params) {
  if (!tools.has(params.name)) return send({ id, error: { code: -32602, message: "there is no tool " + params.name } })
  running.add(id)
  let answer
  try {
    answer = { id, result: await callTool(params.name, params.arguments ?? {}) }
    JSON.stringify(answer)
  } catch (error) {
    console.error(error)
    answer = { id, result: { isError: true, content: [{ type: "text", text: lastLine(error) }] } }
  }
  running.delete(id)
  if (!cancelled.delete(id)) send(answer)
}

// answerHook runs the hooks around a call of another tool, or in the session of an agent, which
// get one object.
async function answerHook(id, { event, call: fields }) {
  if (agent.includes(event)) {
    const key = event === "before_agent_start" ? "system_prompt" : "message"
    await runHooks(event, [fields], (result) => {
      const text = typeof result === "string" && key === "message" ? result : result?.[key]
      if (typeof text === "string") fields[key] = text
    })
    return send({ id, result: fields })
  }
  const { tool_name, args, result } = fields
  const call = event === "before_tool_call" ? [tool_name, args] : [tool_name, args, result]
  await runHooks(event, call, merge(call))
  send({ id, result: { tool_name, args: call[1], result: call[2] } })
}

// merge returns the function that puts the results of hooks into the arguments that they get.
function merge(call) {
  return (result) => {
    if (call.length === 3) {
      if (typeof result === "string") call[2] = result
    } else if (result && typeof result === "object" && !Array.isArray(result)) call[1] = { ...call[1], ...result }
  }
}

function receive(line) {
  let message
  try {
    message = JSON.parse(line)
  } catch {
    return
  }
  const { id, method, params = {} } = message ?? {}
  if (method === "notifications/cancelled" && running.has(params.requestId)) {
    cancelled.add(params.requestId)
    send({ id: params.requestId, error: { code: -32800, message: "cancelled" } })
  }
  if (id === undefined || id === null || method === undefined) return
  switch (method) {
  case "initialize":
    return send({ id, result: {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true }, logging: {}, experimental: { "skills-mcp": { hooks: called.filter((event) => hooks.has(event)) } } },
      serverInfo: { name: api.id, version: given.version },
      instructions: skills.join("\n\n") } })
  case "tools/list":
    return send({ id, result: { tools: [...tools.values()].map((tool) => tool.listed) } })
  case "skills-mcp/hook":
    return void answerHook(id, params)
  case "tools/call":
    return void answerCall(id, params)
  case "ping":
  case "logging/setLevel":
    return send({ id, result: {} })
  }
  send({ id, error: { code: -32601, message: method + " is not offered" } })
}

function refuse(reason) {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id } = JSON.parse(line)
    send({ id, error: { code: -32000, message: "the plugin " + api.id + " does not load: " + reason } })
    process.exit(3)
  })
}

async function load(entry) {
  const module = await import(pathToFileURL(entry))
  const register = module.register ?? module.default?.register ?? module.default
  if (typeof register !== "function") throw new Error("the module exports no function register")
  await register(api)
}

async function main() {
  try {
    await within(loadSeconds, () => load(process.argv[1]), "register(api) did not return within " + loadSeconds + " seconds")
  } catch (error) {
    console.error(error)
    return refuse(lastLine(error))
  }
  serving = true
  await runHooks("on_startup", [])
  createInterface({ input: process.stdin }).on("line", receive).on("close", async () => {
    await runHooks("on_shutdown", [])
    process.exit(0)
  })
}

for (const [key, variable] of Object.entries(given.secrets)) given.config[key] = process.env[variable]
const api = new PluginAPI(given.id, given.config)
await main()
