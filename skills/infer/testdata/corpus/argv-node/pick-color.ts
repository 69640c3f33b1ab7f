// Prints the most frequent colour of an image.
import sharp from 'sharp';

const [, , image, count = '1'] = process.argv;

if (!image) {
  console.log('Usage: npx tsx pick-color.ts <image> [count]');
  process.exit(1);
}

const { data } = await sharp(image).resize(32, 32).raw().toBuffer({ resolveWithObject: true });
const seen = new Map<string, number>();
for (let i = 0; i < data.length; i += 3) {
  const key = data.subarray(i, i + 3).toString('hex');
  seen.set(key, (seen.get(key) ?? 0) + 1);
}
const best = [...seen].sort((a, b) => b[1] - a[1]).slice(0, Number(count));
console.log(best.map(([color]) => '#' + color).join('\n'));
