#!/usr/bin/env bun
import { program } from "commander";
import OpenAI from "openai";
import { readFileSync, writeFileSync } from "fs";

program.requiredOption("--from <lang>", "source language");
program.requiredOption("--to <lang>", "target language");
program.option("--model <id>", "model to use", "gpt-4o-mini");
program.option("--temperature <value>", "sampling temperature", parseFloat, 0.2);
program.option("--glossary <path>", "JSON file with fixed translations");
program.argument("<file>", "file to translate");
program.parse();

const opts = program.opts<{ from: string; to: string; model: string; temperature: number; glossary?: string }>();
const [file] = program.args;

const client = new OpenAI();
const text = readFileSync(file, "utf8");
const glossary = opts.glossary ? readFileSync(opts.glossary, "utf8") : "{}";
const answer = await client.chat.completions.create({
  model: opts.model,
  temperature: opts.temperature,
  messages: [
    { role: "system", content: `Translate from ${opts.from} to ${opts.to}. Glossary: ${glossary}` },
    { role: "user", content: text },
  ],
});
writeFileSync(file.replace(/(\.\w+)$/, `.${opts.to}$1`), answer.choices[0].message.content ?? "");
