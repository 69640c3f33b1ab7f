#!/usr/bin/env tsx
/**
 * Fetch the issues of a GitHub repository as Markdown.
 */
import { Command, Option } from 'commander';

interface Options {
  state: 'open' | 'closed' | 'all';
  label?: string[];
  limit: number;
  token?: string;
}

const program = new Command();

program
  .name('fetch-issues')
  .description('Fetch issues of a repository')
  .version('1.2.0')
  .argument('<owner>', 'owner of the repository')
  .argument('<repo>', 'name of the repository')
  .addOption(new Option('-s, --state <state>', 'which issues').choices(['open', 'closed', 'all']).default('open'))
  .option('-l, --label <labels...>', 'only with these labels')
  .option('-n, --limit <count>', 'maximum number', parseInt, 30)
  .addOption(new Option('--token <token>', 'GitHub token').env('GITHUB_TOKEN'))
  .action(async (owner: string, repo: string, options: Options) => {
    const query = new URLSearchParams({ state: options.state, per_page: String(options.limit) });
    if (options.label) query.set('labels', options.label.join(','));
    const response = await fetch(`https://api.github.com/repos/${owner}/${repo}/issues?${query}`, {
      headers: options.token ? { authorization: `Bearer ${options.token}` } : {},
    });
    for (const issue of (await response.json()) as { number: number; title: string }[]) {
      console.log(`- #${issue.number} ${issue.title}`);
    }
  });

program.parseAsync();
