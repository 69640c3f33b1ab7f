// An MCP server with the Skills extension, made with the TypeScript SDK 1.x: it serves one
// skill whose files are given as JSON, by URI.
import { createHash } from 'node:crypto'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ReadResourceRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

const { uri, frontmatter, files } = JSON.parse(process.argv[2])
const resources = Object.entries(files).map(([uri, text]) => {
  const data = Buffer.from(text)
  return { uri, digest: 'sha256:' + createHash('sha256').update(data).digest('hex'), size: data.length }
})
const skill = { uri, frontmatter, resources }
const server = new Server({ name: 'sdk-skills', version: '1' }, {
  capabilities: { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
})
const request = (method, params) => z.object({ method: z.literal(method), params: params.optional() })
server.setRequestHandler(request('skills/list', z.object({}).passthrough()), () => ({ skills: [skill], ttlMs: 60000 }))
server.setRequestHandler(request('skills/get', z.object({ uri: z.string() }).passthrough()), () => ({ skill }))
server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => ({
  contents: [{ uri: params.uri, blob: Buffer.from(files[params.uri]).toString('base64') }],
}))
await server.connect(new StdioServerTransport())
