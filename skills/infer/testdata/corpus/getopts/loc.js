#!/usr/bin/env node
const getopts = require("getopts")
const options = getopts(process.argv.slice(2), {
  boolean: ["blank", "comments", "json"],
  alias: { b: "blank", c: "comments", j: "json" },
  default: { blank: false, comments: true },
})
const dirs = options._.length ? options._ : ["."]
for (const dir of dirs) console.log(dir, options.blank, options.comments, options.json)
