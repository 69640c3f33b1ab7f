import { appendFile } from 'node:fs/promises';

async function main([list, ...words]) {
  if (!list || words.length === 0) {
    console.error('todo-add.mjs <list> <text...>');
    return 1;
  }
  await appendFile(`${list}.md`, `- [ ] ${words.join(' ')}\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
