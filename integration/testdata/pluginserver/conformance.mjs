// The fixtures of the official conformance suite, as an MCP server with the TypeScript SDK:
// over Streamable HTTP where a port is given, or else on standard input and output.
import { createServer } from "node:http"
import { randomUUID } from "node:crypto"
import { setTimeout as wait } from "node:timers/promises"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import * as mcp from "@modelcontextprotocol/sdk/types.js"

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
const text = (text) => ({ type: "text", text })
const image = { type: "image", data: png, mimeType: "image/png" }
const embedded = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } })
const strings = (required, ...names) => ({ type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])), required })
const titled = (...titles) => titles.map((title, i) => ({ const: `value${i + 1}`, title }))
const options = ["option1", "option2", "option3"]

const ask = (message, requestedSchema) => async (args, extra) => {
  const answer = await extra.sendRequest({ method: "elicitation/create", params: { message: message ?? args.message, requestedSchema } }, mcp.ElicitResultSchema)
  return [text(`Elicitation completed: ${JSON.stringify(answer)}`)]
}
const tools = {
  test_simple_text: () => [text("This is a simple text response for testing.")],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: "audio", data: wav, mimeType: "audio/wav" }],
  test_embedded_resource: () => [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  test_multiple_content_types: () => [text("Multiple content types test:"), image, embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)],
  test_tool_with_logging: async (args, extra) => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await extra.sendNotification({ method: "notifications/message", params: { level: "info", data } })
      await wait(50)
    }
    return [text("logged")]
  },
  test_error_handling: () => { throw new Error("This tool intentionally returns an error for testing") },
  test_tool_with_progress: async (args, extra) => {
    const progressToken = extra._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: 100 } })
      await wait(50)
    }
    return [text("done")]
  },
  test_sampling: async (args, extra) => {
    const messages = [{ role: "user", content: text(args.prompt) }]
    const answer = await extra.sendRequest({ method: "sampling/createMessage", params: { messages, maxTokens: 100 } }, mcp.CreateMessageResultSchema)
    return [text(`LLM response: ${answer.content.text}`)]
  },
  test_elicitation: ask(undefined, strings(["username", "email"], "username", "email")),
  test_elicitation_sep1034_defaults: ask("Please review these details.", {
    type: "object", properties: {
      name: { type: "string", default: "John Doe" }, age: { type: "integer", default: 30 }, score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" }, verified: { type: "boolean", default: true },
    },
  }),
  test_elicitation_sep1330_enums: ask("Please choose.", {
    type: "object", properties: {
      untitledSingle: { type: "string", enum: options }, titledSingle: { type: "string", oneOf: titled("First Option", "Second Option", "Third Option") },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") } },
    },
  }),
  json_schema_2020_12_tool: (args) => [text(JSON.stringify(args))],
  test_reconnection: async () => { await wait(200); return [text("Reconnection test completed")] },
}
const schemas = {
  test_sampling: strings(["prompt"], "prompt"), test_elicitation: strings(["message"], "message"),
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", additionalProperties: false,
    $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
    properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" }, contactMethod: { type: "string", enum: ["phone", "email"] }, phone: { type: "string" }, email: { type: "string" } },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] }, then: { required: ["phone"] }, else: { required: ["email"] },
  },
}
const user = (...contents) => contents.map((content) => ({ role: "user", content }))
const prompts = {
  test_simple_prompt: [[], () => user(text("This is a simple prompt for testing."))],
  test_prompt_with_arguments: [["arg1", "arg2"], (a) => user(text(`Prompt with arguments: arg1='${a.arg1}', arg2='${a.arg2}'`))],
  test_prompt_with_embedded_resource: [["resourceUri"], (a) => user(embedded(a.resourceUri, "text/plain", "Embedded resource content for testing."), text("Please process the embedded resource above."))],
  test_prompt_with_image: [[], () => user(image, text("Please analyze the image above."))],
}
const resources = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: png },
  "test://watched-resource": { mimeType: "text/plain", text: "Watched resource content." },
}

function newServer() {
  const server = new Server({ name: "conformance", version: "1.0.0" }, { capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {} } })
  const on = (schema, handle) => server.setRequestHandler(schema, handle)
  const named = (all, name) => {
    if (!all[name]) throw new mcp.McpError(mcp.ErrorCode.InvalidParams, `there is no ${name}`)
    return all[name]
  }
  on(mcp.ListToolsRequestSchema, () => ({ tools: Object.keys(tools).map((name) => ({ name, description: `The tool ${name}.`, inputSchema: schemas[name] ?? { type: "object" } })) }))
  on(mcp.CallToolRequestSchema, async (request, extra) => {
    const tool = named(tools, request.params.name)
    try {
      return { content: await tool(request.params.arguments, extra) }
    } catch (error) {
      return { isError: true, content: [text(error.message)] }
    }
  })
  on(mcp.ListPromptsRequestSchema, () => ({ prompts: Object.entries(prompts).map(([name, [names]]) => ({ name, description: `The prompt ${name}.`, arguments: names.map((name) => ({ name, description: `The ${name}.`, required: true })) })) }))
  on(mcp.GetPromptRequestSchema, (request) => ({ messages: named(prompts, request.params.name)[1](request.params.arguments ?? {}) }))
  on(mcp.ListResourcesRequestSchema, () => ({ resources: Object.entries(resources).map(([uri, { mimeType }]) => ({ uri, name: uri.slice(7), description: `The resource ${uri}.`, mimeType })) }))
  on(mcp.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", description: "Data of an id.", mimeType: "application/json" }] }))
  on(mcp.ReadResourceRequestSchema, (request) => {
    const { uri } = request.params, id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
    if (id) return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }] }
    return { contents: [{ uri, ...named(resources, uri) }] }
  })
  on(mcp.SubscribeRequestSchema, () => ({}))
  on(mcp.UnsubscribeRequestSchema, () => ({}))
  on(mcp.CompleteRequestSchema, (request) => ({ completion: { values: ["paris", "park", "party"].filter((v) => v.startsWith(request.params.argument.value)) } }))
  return server
}

const port = Number(process.argv[2])
if (!port) {
  await newServer().connect(new StdioServerTransport())
} else {
  const { StreamableHTTPServerTransport } = await import("@modelcontextprotocol/sdk/server/streamableHttp.js")
  const sessions = new Map(), allowedHosts = [`localhost:${port}`, `127.0.0.1:${port}`]
  createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"])
    if (!transport) {
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport), enableDnsRebindingProtection: true, allowedHosts, allowedOrigins: allowedHosts.map((host) => `http://${host}`) })
      await newServer().connect(transport)
    }
    await transport.handleRequest(request, response)
  }).listen(port, "127.0.0.1")
}
