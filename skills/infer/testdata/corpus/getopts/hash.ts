import getopts from "getopts";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const { algorithm, encoding, quiet, _: files } = getopts(process.argv.slice(2), {
  string: ["algorithm", "encoding"],
  boolean: ["quiet"],
  alias: { algorithm: "a", encoding: "e", quiet: "q" },
  default: { algorithm: "sha256", encoding: "hex" },
});

for (const file of files) {
  const sum = createHash(algorithm).update(readFileSync(file)).digest(encoding);
  console.log(quiet ? sum : `${sum}  ${file}`);
}
