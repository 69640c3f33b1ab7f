#!/usr/bin/env -S deno run --allow-read
const [name, count = "1"] = Deno.args;
if (!name) {
  console.error("Usage: deno.ts <name> [count]");
  Deno.exit(1);
}
enum Color { Red = "red" }
console.log(name as string, Number(count), Color.Red satisfies string);
