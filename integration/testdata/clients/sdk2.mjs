// The TypeScript SDK 2.x: the modern generation, or the legacy one where it is
// told so. It verifies the Skills extension by itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { accepted, counter, steps } from './steps.mjs'

const target = JSON.parse(process.argv[2])
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url))
  : new StdioClientTransport({ ...target.process, stderr: 'inherit' })
const questions = []
const faults = []
const changes = counter()
const sdk = new Client({ name: 'sdk2', version: '1' }, {
  capabilities: { elicitation: { form: {} } },
  versionNegotiation: { mode: target.mode, probe: { timeoutMs: 600_000 } },
  listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changes.add() } },
})
sdk.setRequestHandler('elicitation/create', ({ params }) => {
  questions.push(params.message)
  return accepted(params.requestedSchema)
})
sdk.onerror = error => faults.push(String(error))
// The SDK's own limit for an answer is a minute.
const limit = { timeout: 600_000 }
await sdk.connect(transport, limit)

test('speaks the generation that was asked for', () => {
  assert.equal(sdk.getProtocolEra(), target.era)
})

test('verifies every skill that is served', async () => {
  const skills = new SkillsClient(sdk)
  assert.ok(skills.supported)
  const listing = await skills.list()
  assert.ok(listing.skills.length > 0)
  for (const skill of listing.skills) {
    for (const file of skill.resources) assert.ok((await skills.read(skill, file.uri)).verified, file.uri)
    const folder = await skills.readDirectory(skill.uri.replace(/\/SKILL\.md$/, ''))
    assert.ok(folder.resources.some(child => child.uri === skill.uri), skill.uri)
  }
})

steps({
  questions,
  faults,
  changed: changes.count,
  nextChange: changes.next,
  tools: async () => (await sdk.listTools(undefined, { cacheMode: 'bypass' })).tools,
  prompts: async () => (await sdk.listPrompts()).prompts,
  resources: async () => (await sdk.listResources()).resources,
  call: (name, args, options) => sdk.callTool({ name, arguments: args }, { ...limit, ...options }),
  prompt: (name, args) => sdk.getPrompt({ name, arguments: args }, limit),
  read: uri => sdk.readResource({ uri }),
  close: () => sdk.close(),
}, target)
