// A TypeScript SDK signs a person in: the refusal of the server leads to its metadata, that
// to the provider's, and so on to a token, with which the tools are listed and one is called.
// It prints the token, the tools, and the result.
import assert from 'node:assert/strict'

const { url, version, login } = JSON.parse(process.argv[2])
const redirect = 'http://127.0.0.1/callback'
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = version === 1
  ? {
      ...await import('@modelcontextprotocol/sdk/client/index.js'),
      ...await import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      ...await import('@modelcontextprotocol/sdk/client/auth.js'),
    }
  : await import('@modelcontextprotocol/client')

// A browser follows the redirects of the provider, and answers its two forms.
async function browse(to) {
  const cookies = new Map()
  let body
  for (let step = 0; step < 20; step++) {
    const answer = await fetch(to, {
      method: body ? 'POST' : 'GET', body, redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)
      cookies.set(name, value)
    }
    body = undefined
    const next = answer.headers.get('location')
    if (next) {
      to = new URL(next, to)
      if (to.href.startsWith(redirect)) return to.searchParams
      continue
    }
    const page = await answer.text()
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
    assert.ok(prompt, `${to}: ${answer.status} ${page}`)
    to = new URL(/action="([^"]+)"/.exec(page)[1], to)
    body = new URLSearchParams({ prompt, login, password: 'any' })
  }
  assert.fail('the sign-in does not end')
}

const kept = {}
let returned
const authProvider = {
  redirectUrl: redirect,
  clientMetadata: {
    client_name: `sdk${version}`, redirect_uris: [redirect], application_type: 'native', token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'], response_types: ['code'],
  },
  state: () => 'state',
  clientInformation: () => kept.client,
  saveClientInformation: client => { kept.client = client },
  tokens: () => kept.tokens,
  saveTokens: tokens => { kept.tokens = tokens },
  redirectToAuthorization: async to => { returned = await browse(to) },
  saveCodeVerifier: verifier => { kept.verifier = verifier },
  codeVerifier: () => kept.verifier,
}
const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider })
const first = transport()
await assert.rejects(new Client({ name: 'signin', version: '1' }).connect(first), UnauthorizedError)
assert.equal(returned.get('state'), 'state')
await first.finishAuth(version === 1 ? returned.get('code') : returned)
const client = new Client({ name: 'signin', version: '1' })
await client.connect(transport())
const { tools } = await client.listTools()
const { content } = await client.callTool({ name: 'list_skills', arguments: {} })
await client.close()
console.log(JSON.stringify({ token: kept.tokens.access_token, tools: tools.map(tool => tool.name), skills: content[0].text }))
process.exit(0)
