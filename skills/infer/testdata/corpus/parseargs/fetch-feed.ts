import { parseArgs } from "node:util";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    url: { type: "string" },
    limit: { type: "string", default: "20" },
    tag: { type: "string", multiple: true },
    json: { type: "boolean" },
  },
  strict: true,
});

if (!values.url) {
  console.error("--url is required");
  process.exit(2);
}

const text = await (await fetch(values.url)).text();
const titles = [...text.matchAll(/<title>([^<]*)<\/title>/g)].map((m) => m[1]).slice(0, Number(values.limit));
const wanted = titles.filter((t) => !values.tag || values.tag.some((tag) => t.includes(tag)));
console.log(values.json ? JSON.stringify(wanted) : wanted.join("\n"));
