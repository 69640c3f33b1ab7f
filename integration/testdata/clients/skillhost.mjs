// A host of the Skills extension with YAML readers that are not the server's. Each listed
// skill must have its address, its SKILL.md among its files exactly once, that file's size
// and digest, a frontmatter between fences that both readers can parse, and that one as
// its entry's. It prints the names.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { Client } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { CORE_SCHEMA, load } from 'js-yaml'

const target = JSON.parse(process.argv[2])
const { parse } = createRequire(target.inspector)('yaml') // which the Inspector reads with
const sdk = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode: 'auto' } })
await sdk.connect(new StdioClientTransport({ ...target.process, stderr: 'inherit' }))
const { skills } = await new SkillsClient(sdk).list()
const faults = []
for (const { uri, frontmatter, resources } of skills) {
  const { contents } = await sdk.readResource({ uri })
  try {
    assert.match(uri, /^skill:\/\/.+\/SKILL\.md$/)
    assert.equal(uri.split('/').at(-2), frontmatter.name)
    const own = resources.filter(file => file.uri === uri)
    assert.equal(own.length, 1)
    assert.deepEqual(contents.map(c => c.uri), [uri])
    const data = Buffer.from(contents[0].text)
    assert.equal(data.length, own[0].size)
    assert.equal('sha256:' + createHash('sha256').update(data).digest('hex'), own[0].digest)
    const fenced = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*\r?$/m.exec(contents[0].text)
    assert.equal(fenced?.index, 0)
    for (const value of [parse(fenced[1]), load(fenced[1], { schema: CORE_SCHEMA })]) {
      assert.deepEqual(JSON.parse(JSON.stringify(value)), frontmatter)
    }
  } catch (err) {
    faults.push(`${uri}: ${err.message}`)
  }
}
await sdk.close()
assert.deepEqual(faults, [])
console.log(JSON.stringify(skills.map(skill => skill.frontmatter.name)))
