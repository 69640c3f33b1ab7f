import { Command } from "commander";
const cli = new Command();
cli.command("add <name> [tags...]").description("add it").option("-f, --force", "force").action(async (name: string, tags: string[], o: {force?: boolean}) => {});
cli.command("rm").argument("<id>").option("-f, --force", "force").option("--id2 <n>", "x", Number);
async function main(): Promise<void> { await cli.parseAsync(process.argv); }
main().catch((e: unknown) => { console.error(e); process.exit(1); });
