import { parseArgs } from "util";
const { values, positionals } = parseArgs({ args: Bun.argv, options: { flag1: { type: "boolean" }, flag2: { type: "string" } }, strict: true, allowPositionals: true });
console.log(positionals[2]);
