// Every example in the page for a second: frames come, time moves, nothing complains. Run by ctest as `node browser_examples_test.mjs PROGRAM`;
// needs what browser_test.mjs needs. One browser, one page for each example; what is waited for may take a minute.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const program = process.argv[2] ?? process.env.TACTUS_PROGRAM;
if (!program || !existsSync(program)) throw new Error("which program? node browser_examples_test.mjs build/bin/tactus");
const root = fileURLToPath(new URL("..", import.meta.url));
const { chromium } = createRequire(join(root, "studio/package.json"))("playwright-core");
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const patience_ms = 60000;

// Worlds that a clock's steps of 1 ms cannot follow: the page says so. What `tactus play` says of them stands in commands_refused.txt.
const too_fast = new Set(["squeezing_mechanism.tact", "transistor_amplifier.tact"]);

// Programs with warnings, which the page lists.
const warned = new Set(["four_bar_loop.tact"]);

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.TACTUS_CHROMIUM ?? "/usr/bin/chromium", args: flags });
});
after(() => browser?.close());

async function until(condition, what) {
  const end = performance.now() + patience_ms;
  while (!(await condition())) {
    if (performance.now() > end) assert.fail(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

for (const name of readdirSync(join(root, "examples")).filter((file) => file.endsWith(".tact"))) {
  test(name, async () => {
    const child = spawn(program, ["play", join(root, "examples", name), "--no-browser", "--speed", "0.2"], { stdio: ["ignore", "pipe", "pipe"] });
    const exit = once(child, "exit");
    let said = "";
    let complained = "";
    child.stdout.on("data", (data) => (said += data));
    child.stderr.on("data", (data) => (complained += data));
    const page = await browser.newPage({ viewport: { width: 900, height: 500 } });
    try {
      await until(() => said.includes("\n") || child.exitCode !== null, `an address; ${complained}`);
      const complaints = [];
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type()) && !/GL Driver/.test(message.text())) complaints.push(message.text());
      });
      // Runs in the page, before its own script: times of frames, and what the server says of failures.
      await page.addInitScript(() => {
        const seen = (window.seen = { times: [], failure: null });
        const Native = window.WebSocket;
        window.WebSocket = class extends Native {
          constructor(...options) {
            super(...options);
            this.addEventListener("message", (event) => {
              if (typeof event.data !== "string") {
                seen.times.push(new DataView(event.data).getFloat64(16, true));
                return;
              }
              const message = JSON.parse(event.data);
              if (message.type === "state" && message.failure) seen.failure = message.failure;
            });
          }
        };
      });
      await page.goto(said.split("\n")[0]);
      const seen = () => page.evaluate(() => window.seen);
      await until(async () => {
        const { times, failure } = await seen();
        return failure || (times.length > 20 && times.at(-1) > times[0]);
      }, "frames in which time moves");
      const { failure } = await seen();
      if (too_fast.has(name)) {
        assert.ok(failure?.text ?? failure);
      } else {
        assert.equal(failure, null, JSON.stringify(failure));
        if (!warned.has(name)) assert.equal(await page.textContent("#problems"), "No problems");
      }
      assert.deepEqual(complaints, []);
    } finally {
      await page.close();
      child.kill("SIGINT");
      await exit;
    }
    assert.doesNotMatch(complained, /internal|Assertion|Sanitizer/);
    assert.equal(child.signalCode, null, complained);
  });
}
