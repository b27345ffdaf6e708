// The pictures of docs/images: worlds under a hand, as a browser shows them. node tests/take_pictures.mjs PROGRAM [FOLDER [NAME ..]]; needs `./dev studio` and Chromium
// (TACTUS_CHROMIUM, else /usr/bin/chromium). With --more also a dark page and one on a tablet, for looking at.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync, inflateSync } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const [program, folder = join(root, "docs/images"), ...chosen] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
if (program === undefined) throw new Error("which program? node tests/take_pictures.mjs build/bin/tactus");
const { chromium } = createRequire(join(root, "studio/package.json"))("playwright-core");

// The hand's way, in points of the world, each reached after so many milliseconds; the picture is taken at its end.
const worlds = {
  two_ball: [[0, 0, 0], [150, -60, 700], [370, -270, 1200], [372, -275, 2600], [250, 0, 600], [-100, 60, 400]],
  inverted_pendulum: [[0, 0, 0], [0.3, 0, 800], [-0.2, 0, 1500], [1.1, 0, 1500]],
  flick: [[0.08, 0.02, 0], [0.02, 0.08, 500], [-0.09, 0.05, 700], [-0.07, -0.06, 600], [0.02, -0.08, 500], [0.1, 0.05, 600]],
};
// Slowly, so that the rod still stands.
const speeds = { inverted_pendulum: 0.2 };
// Worlds without a hand, and the time at which each is worth a picture.
const moments = {
  ball_on_steps: 2.2, robot_chain: 5.6, dueling_spaceships: 18, ball_in_box: 1.4, ball_in_canal: 6, car_on_road_network: 9, traffic_control: 9, stunt_track: 4.2,
  docking_spaceship: 60, slip: 3, two_tanks: 1.2, passive_pendulum: 12, bead_on_hoop: 5,
};
const screens = [
  ["", { viewport: { width: 1366, height: 768 } }, [...Object.keys(worlds), ...Object.keys(moments)]],
  ...(process.argv.includes("--more")
    ? [
        ["_dark", { viewport: { width: 1366, height: 768 }, colorScheme: "dark" }, ["two_ball", "inverted_pendulum"]],
        ["_tablet", { viewport: { width: 768, height: 1024 }, hasTouch: true }, ["two_ball", "flick"]],
      ]
    : []),
];

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function start(name) {
  const child = spawn(program, ["play", join(root, "examples", `${name}.tact`), "--no-browser", "--paused", "--speed", String(speeds[name] ?? 1)], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve) => child.stdout.once("data", (data) => resolve(String(data).split("\n")[0])));
  return { url, stop: () => child.kill("SIGINT") };
}

// Where a point of the world is in the window.
async function pixels_of(page, [x, y]) {
  const box = await page.locator("#world").boundingBox();
  const [px, py] = await page.evaluate((point) => window.tactus.to_pixels(point), [x, y, 0]);
  return [box.x + px, box.y + py];
}

async function grasp(page, point) {
  await page.mouse.move(...(await pixels_of(page, point)));
  await page.mouse.down();
  await sleep(200);
  await page.keyboard.press("Space");
}

async function follow(page, way) {
  await grasp(page, way[0]);
  let [from_x, from_y] = await pixels_of(page, way[0]);
  for (const [x, y, ms] of way.slice(1)) {
    const [to_x, to_y] = await pixels_of(page, [x, y]);
    const began = performance.now();
    for (let share = 0; share < 1; ) {
      share = Math.min((performance.now() - began) / ms, 1);
      await page.mouse.move(from_x + (to_x - from_x) * share, from_y + (to_y - from_y) * share);
    }
    [from_x, from_y] = [to_x, to_y];
  }
}

// The same picture in fewer bytes: browsers write PNG in haste. Colours lose their last bit or two, at most 256 of them stay, and one byte a pixel is
// enough (PNG specification, second edition: chunks in section 5, filters in 9, palettes in 11).
function squeeze(png) {
  const chunks = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push([png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length)]);
    at += 12 + length;
  }
  const header = chunks.find(([kind]) => kind === "IHDR")[1];
  const [width, height, channels] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9] === 6 ? 4 : 3];
  const lines = inflateSync(Buffer.concat(chunks.filter(([kind]) => kind === "IDAT").map(([, data]) => data)));
  const stride = width * channels;
  const pixels = Buffer.alloc(height * stride);
  const nearest = (left, up, corner) => {
    const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
    return a <= b && a <= c ? left : b <= c ? up : corner;
  };
  for (let y = 0; y < height; ++y) {
    const filter = lines[y * (stride + 1)];
    for (let i = 0; i < stride; ++i) {
      const left = i >= channels ? pixels[y * stride + i - channels] : 0;
      const up = y > 0 ? pixels[(y - 1) * stride + i] : 0;
      const corner = i >= channels && y > 0 ? pixels[(y - 1) * stride + i - channels] : 0;
      const guess = [0, left, up, (left + up) >> 1, nearest(left, up, corner)][filter];
      pixels[y * stride + i] = lines[y * (stride + 1) + 1 + i] + guess;
    }
  }
  // The most frequent colours; each other becomes the nearest of them.
  const counts = new Map();
  const color_at = (i) => (pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2];
  for (let i = 0; i < pixels.length; i += channels) counts.set(color_at(i), (counts.get(color_at(i)) ?? 0) + 1);
  const apart = (a, b) => ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
  const palette = [];
  for (const least of [200, 60, 20, 0]) {
    for (const [color] of [...counts].sort((a, b) => b[1] - a[1])) {
      if (palette.length < 256 && palette.every((known) => apart(color, known) > least)) palette.push(color);
    }
  }
  const place = new Map();
  for (const color of counts.keys()) {
    let best = 0;
    for (let i = 1; i < palette.length; ++i) if (apart(color, palette[i]) < apart(color, palette[best])) best = i;
    place.set(color, best);
  }
  const indexed = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) indexed[y * (width + 1) + 1 + x] = place.get(color_at(y * stride + x * channels));
  }
  const table = Int32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; ++k) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
    return n;
  });
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeInt32BE(~body.reduce((crc, byte) => (crc >>> 8) ^ table[(crc ^ byte) & 255], -1));
    return Buffer.concat([length, body, sum]);
  };
  const new_header = Buffer.from(header);
  new_header[9] = 3;
  return Buffer.concat([
    png.subarray(0, 8),
    chunk("IHDR", new_header),
    chunk("PLTE", Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))),
    chunk("IDAT", deflateSync(indexed, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const browser = await chromium.launch({ executablePath: process.env.TACTUS_CHROMIUM ?? "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"] });
for (const [suffix, options, names] of screens) {
  for (const name of names.filter((each) => chosen.length === 0 || chosen.includes(each))) {
    const world = await start(name);
    const context = await browser.newContext(options);
    const page = await context.newPage();
    // As on a machine with a graphics card: smooth edges.
    await page.addInitScript(() => {
      const get = WebGL2RenderingContext.prototype.getParameter;
      WebGL2RenderingContext.prototype.getParameter = function (wanted) {
        return wanted === 0x9246 ? "a graphics card" : get.call(this, wanted);
      };
    });
    await page.goto(world.url);
    await page.waitForFunction(() => window.tactus?.frames > 0);
    await sleep(1500);
    if (name in worlds) {
      await follow(page, worlds[name]);
    } else {
      await page.keyboard.press("Space");
      await page.waitForFunction((end) => Number(document.getElementById("time").textContent) >= end, moments[name], { timeout: 0, polling: 50 });
      await page.keyboard.press("Space");
      await page.evaluate(() => document.getElementById("notes").replaceChildren());
      await sleep(1500);
    }
    writeFileSync(join(folder, `play_${name}${suffix}.png`), squeeze(await page.screenshot()));
    await page.mouse.up();
    await context.close();
    world.stop();
  }
}
await browser.close();
