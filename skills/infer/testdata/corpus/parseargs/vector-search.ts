import { parseArgs } from "util";

const parsed = parseArgs({
  options: {
    index: { type: "string", short: "i", default: "index.bin" },
    k: { type: "string", short: "k", default: "5" },
    explain: { type: "boolean" },
  },
  allowPositionals: true,
});
const query = parsed.positionals.join(" ");
if (query === "") {
  console.error("usage: vector-search.ts [-i index] [-k n] [--explain] <query>");
  process.exit(1);
}
console.log(parsed.values.index, Number(parsed.values.k), parsed.values.explain, query);
