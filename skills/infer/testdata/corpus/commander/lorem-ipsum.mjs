import { program } from 'commander';
program.option('-p, --paragraphs <n>', 'paragraphs', '3').option('-w, --words <n>', 'words of each', '50').option('--html', 'as HTML');
program.parse(process.argv);
const { paragraphs, words, html } = program.opts();
for (let i = 0; i < Number(paragraphs); i++) {
  const text = 'lorem '.repeat(Number(words)).trim();
  console.log(html ? `<p>${text}</p>` : text);
}
