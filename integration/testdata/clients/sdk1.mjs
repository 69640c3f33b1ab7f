// The TypeScript SDK 1.x: the legacy generation, with initialize and sessions.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { accepted, counter, steps } from './steps.mjs'

const target = JSON.parse(process.argv[2])
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url))
  : new StdioClientTransport({ ...target.process, stderr: 'inherit' })
const sdk = new Client({ name: 'sdk1', version: '1' }, { capabilities: { elicitation: {} } })
const questions = []
const faults = []
const changes = counter()
sdk.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  questions.push(params.message)
  return accepted(params.requestedSchema)
})
sdk.setNotificationHandler(ToolListChangedNotificationSchema, () => changes.add())
sdk.onerror = error => faults.push(String(error))
// The SDK's own limit for an answer is a minute.
const limit = { timeout: 600_000 }
await sdk.connect(transport, limit)

steps({
  questions,
  faults,
  changed: changes.count,
  nextChange: changes.next,
  tools: async () => (await sdk.listTools()).tools,
  prompts: async () => (await sdk.listPrompts()).prompts,
  resources: () => all(cursor => sdk.listResources({ cursor }), 'resources'),
  call: (name, args, options) => sdk.callTool({ name, arguments: args }, undefined, { ...limit, ...options }),
  prompt: (name, args) => sdk.getPrompt({ name, arguments: args }, limit),
  read: uri => sdk.readResource({ uri }),
  close: () => sdk.close(),
}, target)

// all asks for page after page.
async function all(list, field) {
  const found = []
  let cursor
  do {
    const page = await list(cursor)
    found.push(...page[field])
    cursor = page.nextCursor
  } while (cursor)
  return found
}
