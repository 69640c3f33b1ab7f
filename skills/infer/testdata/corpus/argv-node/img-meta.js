#!/usr/bin/env node
// Usage: node img-meta.js <image> [...images]
const sharp = require('sharp');

async function main() {
  const images = process.argv.slice(2);
  if (!images.length) {
    console.error('Usage: node img-meta.js <image> [...images]');
    process.exit(1);
  }
  for (const image of images) {
    const { width, height, format } = await sharp(image).metadata();
    console.log(`${image}: ${width}x${height} ${format}`);
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
