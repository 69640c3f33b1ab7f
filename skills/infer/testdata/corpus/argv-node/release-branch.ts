import { execFileSync } from 'node:child_process';

function getArg(flag: string): string | undefined {
  const i = process.argv.indexOf(flag);
  return i === -1 ? undefined : process.argv[i + 1];
}

const version = getArg('--version');
const base = getArg('--base') ?? 'main';
const push = process.argv.includes('--push');
if (!version) {
  console.error('Usage: release-branch.ts --version <x.y.z> [--base <branch>] [--push]');
  process.exit(1);
}
execFileSync('git', ['checkout', '-b', `release/${version}`, base]);
if (push) execFileSync('git', ['push', '-u', 'origin', `release/${version}`]);
