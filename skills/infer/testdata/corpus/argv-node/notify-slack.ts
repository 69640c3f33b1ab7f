#!/usr/bin/env bun
const channel = process.argv[2];
const text = process.argv[3];
const thread = process.argv[4];

if (!channel || !text) {
  console.error("Usage: bun notify-slack.ts <channel> <text> [thread]");
  process.exit(1);
}
const body: Record<string, string> = { channel, text };
if (thread) body.thread_ts = thread;
await fetch("https://slack.com/api/chat.postMessage", {
  method: "POST",
  headers: { authorization: `Bearer ${process.env.SLACK_TOKEN}`, "content-type": "application/json" },
  body: JSON.stringify(body),
});
