import { createRequire } from 'node:module';
import { Command, Argument } from 'commander';
import { readFile } from 'node:fs/promises';
import { globby } from 'globby';

const program = new Command();

program
  .name('secrets-scan')
  .description('Look for secrets in a working tree')
  .addArgument(new Argument('[path]', 'folder to scan').default('.'))
  .addArgument(new Argument('[severity]', 'lowest severity').choices(['low', 'medium', 'high']).default('medium'))
  .option('-e, --exclude <globs...>', 'files to leave out')
  .option('--entropy <bits>', 'least entropy per character', Number, 4.5)
  .option('--json', 'print findings as JSON')
  .option('--no-git-ignore', 'also scan ignored files')
  .action(async (path, severity, options) => {
    const files = await globby('**/*', { cwd: path, gitignore: options.gitIgnore, ignore: options.exclude });
    const findings = [];
    for (const file of files) {
      const text = await readFile(`${path}/${file}`, 'utf8');
      if (/AKIA[0-9A-Z]{16}/.test(text)) findings.push({ file, rule: 'aws-key' });
    }
    console.log(options.json ? JSON.stringify(findings) : `${findings.length} findings`);
  });

program.parse();
