const fs = require('fs');
const path = require('path');

const args = process.argv.slice(2);
const name = args[0];
const dir = args[1] || 'src/components';
const withTest = args.includes('--test');
const withStory = args.includes('--story');

if (!name) {
  console.error('Usage: create-component <Name> [dir] [--test] [--story]');
  process.exit(1);
}

const target = path.join(dir, name);
fs.mkdirSync(target, { recursive: true });
fs.writeFileSync(path.join(target, `${name}.tsx`), `export function ${name}() {\n  return null;\n}\n`);
if (withTest) fs.writeFileSync(path.join(target, `${name}.test.tsx`), '');
if (withStory) fs.writeFileSync(path.join(target, `${name}.stories.tsx`), '');
