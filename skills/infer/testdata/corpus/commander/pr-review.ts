import { Octokit } from '@octokit/rest';
import { Command } from 'commander';

const program = new Command('pr-review');
const octokit = new Octokit({ auth: process.env.GITHUB_TOKEN });

program
  .description('Comment on a pull request')
  .argument('<repository>', 'owner/name')
  .argument('<number>', 'number of the pull request', (text) => parseInt(text, 10))
  .requiredOption('-b, --body <text>', 'text of the review')
  .option('-e, --event <event>', 'APPROVE, COMMENT or REQUEST_CHANGES', 'COMMENT')
  .hook('preAction', () => console.error('reviewing'))
  .action(async (repository: string, number: number, options) => {
    const [owner, repo] = repository.split('/');
    await octokit.pulls.createReview({ owner, repo, pull_number: number, body: options.body, event: options.event });
  });

program.parseAsync().then(() => console.log('done'));
