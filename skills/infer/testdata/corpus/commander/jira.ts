#!/usr/bin/env -S deno run --allow-net --allow-env
import { Command } from "npm:commander@13";

const program = new Command("jira").description("Work with Jira tickets");
const base = process.env.JIRA_URL;

async function request(method: string, path: string, body?: unknown) {
  const res = await fetch(`${base}/rest/api/3/${path}`, { method, body: body ? JSON.stringify(body) : undefined });
  if (!res.ok) throw new Error(`${res.status} ${await res.text()}`);
  return res.json();
}

program
  .command("get")
  .description("show a ticket")
  .argument("<key>", "key of the ticket, such as ABC-12")
  .option("--comments", "with its comments")
  .action(async (key: string, opts: { comments?: boolean }) => {
    console.log(await request("GET", `issue/${key}${opts.comments ? "?expand=comments" : ""}`));
  });

program
  .command("create")
  .description("create a ticket")
  .requiredOption("--project <key>", "project of the ticket")
  .requiredOption("--summary <text>", "one line")
  .option("--description <text>", "longer text")
  .option("--type <name>", "type of the ticket", "Task")
  .option("--labels <labels...>", "labels")
  .action(async (opts) => {
    console.log(await request("POST", "issue", { fields: opts }));
  });

program
  .command("move <key> <status>")
  .description("change the status of a ticket")
  .action(async (key: string, status: string) => {
    await request("POST", `issue/${key}/transitions`, { transition: { name: status } });
  });

program.parseAsync();
