import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { PNG } from 'pngjs';
import pixelmatch from 'pixelmatch';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    threshold: { type: 'string', default: '0.1' },
    diff: { type: 'string' },
    quiet: { type: 'boolean', short: 'q' },
  },
});
if (positionals.length !== 2) {
  throw new Error('expected two images: <before> <after>');
}
const before = PNG.sync.read(readFileSync(positionals[0]));
const after = PNG.sync.read(readFileSync(positionals[1]));
const diff = new PNG({ width: before.width, height: before.height });
const n = pixelmatch(before.data, after.data, diff.data, before.width, before.height, { threshold: Number(values.threshold) });
if (values.diff) writeFileSync(values.diff, PNG.sync.write(diff));
if (!values.quiet) console.log(`${n} pixels differ`);
process.exit(n > 0 ? 1 : 0);
