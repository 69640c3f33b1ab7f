// Checks that the version of package.json has an entry in the changelog.
import { readFile } from 'node:fs/promises';

const { version } = JSON.parse(await readFile('package.json', 'utf8'));
const changelog = await readFile('CHANGELOG.md', 'utf8');
if (!changelog.includes(`## ${version}`)) {
  console.error(`no entry for ${version}`);
  process.exit(1);
}
