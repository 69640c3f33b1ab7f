import { Command } from "commander";

const NUMBER = (v: string) => Number(v);
const options: Array<{ flags: string; text: string; parse?: (v: string) => number; value?: string | number }> = [
  { flags: "-c, --count <n>", text: "how many", parse: NUMBER, value: 4 },
  { flags: "-w, --width <px>", text: "width in pixels", parse: NUMBER, value: 320 },
  { flags: "-o, --out <dir>", text: "folder for the images", value: "thumbs" },
];

const program = new Command("video-thumbs").argument("<video>", "video to read");
options.forEach((o) => {
  if (o.parse) program.option(o.flags, o.text, o.parse, o.value as number);
  else program.option(o.flags, o.text, o.value as string);
});
program.action((video, opts) => console.log(video, opts)).parse();
