#!/usr/bin/env node
// Repeats a text.
import { parseArgs } from "node:util";

// A parameter comes as --name value, and as --name=value where the value begins
// with a hyphen. Its type has been checked; a boolean is "true" or "false".
const { values } = parseArgs({
  options: {
    text: { type: "string" },
    times: { type: "string", default: "1" },
    upper: { type: "string", default: "false" },
  },
});

const text = values.upper === "true" ? values.text.toUpperCase() : values.text;
for (let i = 0; i < Number(values.times); i++) {
  console.log(text);
}
