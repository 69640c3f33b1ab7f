import { parseArgs } from 'node:util';
import { writeFile } from 'node:fs/promises';

/** Reads a text aloud into a file. */
const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    text: { type: 'string' },
    voice: { type: 'string', default: 'alloy' },
    speed: { type: 'string', default: '1.0' },
    out: { type: 'string', short: 'o', default: 'speech.mp3' },
  },
  strict: true,
  allowPositionals: true,
});
const res = await fetch('https://api.openai.com/v1/audio/speech', { method: 'POST', body: JSON.stringify({ input: values.text, voice: values.voice, speed: Number(values.speed) }) });
await writeFile(values.out!, Buffer.from(await res.arrayBuffer()));
