// The steps that a client goes through with each SDK, on each transport. An SDK
// is brought to one shape by sdk1.mjs and sdk2.mjs:
//
//   connect(target) → client
//   client: tools() prompts() resources() call(name, args, {onprogress, signal})
//     prompt(name, args) read(uri) close()
//   client.questions: the messages of the questions that it was asked, each of
//     which it accepts as it is
//   client.faults: what the SDK reported as errors of the transport
//   client.changed(): the number of notices that the list of tools has changed
//   client.nextChange(): resolves with the next of them
import assert from 'node:assert/strict'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

// step is one test. What a client waits for in vain would never end.
const step = (name, run) => test(name, { timeout: 600_000 }, run)

export function steps(client, target) {
  step('lists tools, none of which a hostile skill has harmed', async () => {
    const tools = await client.tools()
    const names = tools.map(tool => tool.name)
    for (const name of ['search_skills', 'run_skill', 'test_simple_text', 'greet']) {
      assert.ok(names.includes(name), `there is no tool ${name}: ${names}`)
    }
    assert.equal(new Set(names).size, names.length, 'two tools have one name')
    for (const tool of tools) {
      assert.match(tool.name, /^[A-Za-z0-9_-]{1,64}$/)
      assert.ok(tool.description.length <= 4096, `${tool.name} has a description of ${tool.description.length}`)
      assert.equal(tool.inputSchema.type, 'object')
      assert.doesNotMatch(JSON.stringify(tool), /x-mcp-header|https?:\/\/hostile/)
    }
  })

  step('lists prompts and gets one', async () => {
    const prompts = await client.prompts()
    assert.ok(prompts.some(prompt => prompt.name === 'test_prompt_with_arguments'))
    const { messages } = await client.prompt('test_prompt_with_arguments', { arg1: 'one', arg2: 'two' })
    assert.match(messages[0].content.text, /arg1='one', arg2='two'/)
  })

  step('lists resources and reads one', async () => {
    const resources = await client.resources()
    assert.ok(resources.some(resource => resource.uri === 'test://static-text'))
    const { contents } = await client.read('test://static-text')
    assert.equal(contents[0].text, 'This is the content of the static text resource.')
  })

  step('calls a skill', async () => {
    const result = await client.call('greet', { name: '-n $(id) "x"' })
    assert.deepEqual(result.content, [{ type: 'text', text: 'Hello, -n $(id) "x"!' }])
  })

  step('is told what is wrong with a call', async () => {
    const result = await client.call('greet', {})
    assert.equal(result.isError, true)
    assert.match(result.content[0].text, /^INVALID_PARAM: /)
  })

  step('gets contents of every kind', async () => {
    const result = await client.call('test_multiple_content_types', {})
    assert.deepEqual(result.content.map(content => content.type), ['text', 'image', 'resource'])
  })

  step('sees progress, all of it before the result', async () => {
    const seen = []
    await client.call('test_tool_with_progress', {}, { onprogress: progress => seen.push(progress) })
    // On a machine that has much to do, progress is thinned, and the SDKs drop what they
    // read together with the result.
    const steps = seen.filter(({ total }) => total).map(({ progress }) => progress)
    assert.ok(steps.length >= 1, JSON.stringify(seen))
    assert.deepEqual(steps, [0, 50, 100].filter(step => steps.includes(step)))
    assert.ok(seen.every(({ total }) => !total || total === 100), JSON.stringify(seen))
  })

  step('answers a question', async () => {
    const result = await client.call('test_elicitation_sep1034_defaults', {})
    assert.ok(!result.isError, JSON.stringify(result))
    assert.equal(client.questions.length, 1)
    // A person is told which skill asks.
    assert.match(client.questions[0], /test_elicitation_sep1034_defaults/)
    assert.match(result.content[0].text, /"action": ?"accept"/)
  })

  step('cancels a call, and goes on', async () => {
    const cancel = new AbortController()
    const call = client.call('slow_compute', { seconds: 60 }, { signal: cancel.signal, onprogress: () => cancel.abort() })
    await assert.rejects(call)
    const result = await client.call('greet', { name: 'again' })
    assert.equal(result.content[0].text, 'Hello, again!')
  })

  step('cancels a call that has sent nothing', async () => {
    const cancel = new AbortController()
    const call = client.call('slow_compute', { seconds: 60 }, { signal: cancel.signal })
    await client.call('greet', { name: 'meanwhile' })
    cancel.abort()
    await assert.rejects(call)
    await client.call('greet', { name: 'again' })
  })

  step('has met nothing that it does not understand', () => assert.deepEqual(client.faults, []))

  step('is told of a new skill once, and finds it', async () => {
    assert.equal(client.changed(), 0)
    const notice = client.nextChange()
    await addSkill(target.changing, 'arrived')
    await notice
    const tools = await client.tools()
    assert.ok(tools.some(tool => tool.name === 'arrived'))
    assert.equal(client.changed(), 1)
  })

  step('leaves', () => client.close())
}

// addSkill adds one whole, as an author who moves a finished folder does.
async function addSkill(folder, name) {
  const aside = join(folder, '..', `aside-${name}`)
  await mkdir(aside)
  await writeFile(join(aside, 'SKILL.md'), `---\nname: ${name}\ndescription: Has arrived.\n---\nWelcome.\n`)
  await rename(aside, join(folder, name))
}

// counter counts notices, and lets one wait for the next.
export function counter() {
  let count = 0
  let waiting = []
  return {
    count: () => count,
    next: () => new Promise(resolve => waiting.push(resolve)),
    add: () => {
      count++
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

// accepted is the answer of a person who leaves everything as it is.
export function accepted(schema) {
  const content = {}
  for (const [name, property] of Object.entries(schema?.properties ?? {})) content[name] = property.default
  return { action: 'accept', content }
}
