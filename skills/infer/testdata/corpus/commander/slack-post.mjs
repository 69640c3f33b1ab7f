#!/usr/bin/env node
import { Command } from 'commander';

const program = new Command();
program
  .name('slack-post')
  .description('Post a message to a Slack channel')
  .requiredOption('-c, --channel <id>', 'channel to post to')
  .requiredOption('-m, --message <text>', 'text of the message')
  .option('-t, --thread <ts>', 'thread to answer in')
  .option('--unfurl', 'show previews of links')
  .option('--attach [file]', 'attach a file, or the standard input')
  .showHelpAfterError()
  .parse();

const { channel, message, thread, unfurl } = program.opts();
const token = process.env.SLACK_TOKEN;
if (!token) {
  console.error('SLACK_TOKEN is not set');
  process.exit(2);
}
const res = await fetch('https://slack.com/api/chat.postMessage', {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ channel, text: message, thread_ts: thread, unfurl_links: Boolean(unfurl) }),
});
console.log(await res.json());
