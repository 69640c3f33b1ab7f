import { Command } from 'commander';
import { execFileSync } from 'node:child_process';

type PlanOptions = { workspace: string; var: Record<string, string>; destroy?: boolean; target?: string[] };

const keyValue = (pair: string, all: Record<string, string>) => {
  const [key, value] = pair.split('=');
  return { ...all, [key]: value };
};

new Command()
  .argument('[dir]', 'folder of the configuration', '.')
  .option('-w, --workspace <name>', 'workspace', 'default')
  .option('--var <key=value>', 'variable (repeatable)', keyValue, {})
  .option('--target <addresses...>', 'only these resources')
  .option('--destroy', 'plan to destroy')
  .action((dir: string, o: PlanOptions) => {
    console.log(execFileSync('terraform', [`-chdir=${dir}`, 'plan', ...Object.entries(o.var).map(([k, v]) => `-var=${k}=${v}`)]).toString());
  })
  .parse();
