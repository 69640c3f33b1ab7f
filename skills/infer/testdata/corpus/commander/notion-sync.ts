import { Command } from "commander";
import { Client } from "@notionhq/client";
import * as fs from "fs";

const notion = new Client({ auth: process.env.NOTION_TOKEN });
const program = new Command();

// Options that every command has.
function withCommon(command: Command): Command {
  return command
    .option("--json", "print JSON")
    .option("--timeout <seconds>", "give up after so many seconds", parseFloat, 30);
}

withCommon(program.command("pull <pageId>"))
  .description("Download a page as Markdown")
  .option("-o, --out <file>", "file to write")
  .action(async (pageId, options) => {
    const page = await notion.pages.retrieve({ page_id: pageId });
    if (options.out) fs.writeFileSync(options.out, JSON.stringify(page));
    else console.log(page);
  });

withCommon(program.command("search <words...>"))
  .description("Search pages")
  .option("--limit <n>", "number of results", "10")
  .action(async (words, options) => {
    const found = await notion.search({ query: words.join(" "), page_size: Number(options.limit) });
    console.log(options.json ? JSON.stringify(found.results) : found.results.length);
  });

program.parse();
