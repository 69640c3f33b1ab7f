// An OpenID provider: clients register themselves or publish a metadata document, access
// tokens are JWTs for the resource that was asked for, and everybody is who they say. It
// prints its issuer.
import { createServer } from 'node:http'
import { once } from 'node:events'
import Provider from 'oidc-provider'

const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const issuer = `http://127.0.0.1:${server.address().port}`
const provider = new Provider(issuer, {
  features: {
    registration: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'skills:read skills:run', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600, jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  scopes: ['openid', 'offline_access', 'skills:read', 'skills:run'],
  extraTokenClaims: (_, token) => ({ groups: [token.accountId === 'ann' ? 'developers' : 'operators'], preferred_username: token.accountId }),
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
})
server.on('request', provider.callback())
console.log(issuer)
