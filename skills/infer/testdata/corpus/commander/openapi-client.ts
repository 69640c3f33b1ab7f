import { Command } from 'commander';
import { readFile, writeFile } from 'node:fs/promises';

const LANGUAGES = ['typescript', 'python', 'go'] as const;

export function buildProgram(): Command {
  const program = new Command();
  program
    .name('openapi-client')
    .description('Generate a client from an OpenAPI document')
    .argument('<spec>', 'path or URL of the document')
    .option('-l, --language <name>', 'language of the client', 'typescript')
    .option('-o, --out-dir <dir>', 'folder for the client', './client')
    .option('--operations <ids...>', 'only these operations')
    .option('--strict', 'fail on unknown formats', true)
    .action(run);
  return program;
}

async function run(spec: string, options: { language: string; outDir: string; operations?: string[]; strict: boolean }) {
  if (!LANGUAGES.includes(options.language as never)) throw new Error(`unknown language ${options.language}`);
  const text = spec.startsWith('http') ? await (await fetch(spec)).text() : await readFile(spec, 'utf8');
  await writeFile(`${options.outDir}/index.ts`, `// ${JSON.parse(text).info.title}\n`);
}

buildProgram().parseAsync(process.argv).catch((error) => {
  console.error(error);
  process.exit(1);
});
