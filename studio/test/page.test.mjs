// The page in a browser, against the stand-in server: npm run test:page. Needs Chromium; TACTUS_CHROMIUM names it, else /usr/bin/chromium.
import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { chromium } from "playwright-core";
import { start_mock } from "./mock_server.mjs";

const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let browser;
let mock;
let context;
let page;
let complaints;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.TACTUS_CHROMIUM ?? "/usr/bin/chromium", args: flags });
});
after(() => browser.close());

async function open(name = "two_ball", options = {}) {
  mock = await start_mock({ name });
  context = await browser.newContext({ viewport: { width: 1366, height: 768 }, ...options });
  page = await context.newPage();
  complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // A lost connection is reported by the browser itself; drivers' remarks are not ours.
    if (["error", "warning"].includes(message.type()) && !/GL Driver|WebSocket|ERR_|403/.test(message.text())) complaints.push(message.text());
  });
  await load();
}

async function load() {
  await page.goto("about:blank"); // the address again is no new page where only what stands behind its # is new
  await page.goto(mock.address);
  await page.waitForFunction(() => window.tactus?.frames > 3);
}

beforeEach((t) => (t.name.startsWith("[") ? undefined : open()));
afterEach(async () => {
  await context?.close();
  await mock?.stop();
  context = mock = undefined;
});

const sent = (type) => mock.received.filter((message) => message.type === type);
async function until(condition, what) {
  for (let i = 0; i < 1200; ++i) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`never happened: ${what}`);
}
const near = (a, b, tolerance) => a.length === b.length && a.every((x, i) => Math.abs(x - b[i]) <= tolerance);

async function world_box() {
  return page.locator("#world").boundingBox();
}

test("the page loads under the content policy, says hello and shows the world without complaint", async () => {
  assert.deepEqual(sent("hello"), [{ type: "hello", version: 1 }]);
  assert.equal(await page.textContent("#world-name"), "two_ball");
  assert.equal(await page.evaluate(() => window.tactus.generation), 1);
  assert.equal(await page.locator(".parameter").count(), 3);
  assert.equal(await page.locator(".plot").count(), 2);
  assert.equal(await page.locator(".file-tab").textContent(), "two_ball.tact");
  await until(async () => (await page.textContent("#loop")).includes("120 µs"), "statistics");
  assert.deepEqual(complaints, []);
});

test("a drag sends the hand in its own coordinates, once a displayed frame, and leaves", async () => {
  const box = await world_box();
  const [x, y] = [Math.round(box.width * 0.6), Math.round(box.height * 0.4)];
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + x, box.y + y, { steps: 8 });
  const point = await page.evaluate(([px, py]) => window.tactus.to_world(px, py), [x, y]);
  const { scale, offset } = mock.world.hand;
  const expected = [0, 1].map((i) => (point[i] - offset[i]) / scale[i]);
  await until(() => sent("hand").length > 5 && near(sent("hand").at(-1).position.slice(0, 2), expected, 1e-9), "the hand at the pointer");
  assert.equal(sent("hand").at(-1).position[2], 0);
  assert.equal(sent("hand").at(-1).button, true);
  // The white ball is where the pointer is.
  await until(async () => near(await page.evaluate(() => window.tactus.values("white_ball")), point.slice(0, 2), 1e-6), "the white ball under the pointer");
  assert.equal(await page.evaluate(() => window.tactus.hand.held), true);
  assert.equal(await page.locator("#hint").isHidden(), true);
  assert.equal(sent("leave").length, 0);
  await page.mouse.up();
  await until(() => sent("leave").length === 1, "leave");
  const count = sent("hand").length;
  await page.mouse.move(box.x + 100, box.y + 200, { steps: 5 });
  await page.waitForTimeout(200);
  assert.equal(sent("hand").length, count);
});

test("the black ball moves and the picture with it", async () => {
  const before_drag = await page.locator("#world").screenshot();
  const box = await world_box();
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 200, { steps: 5 });
  await until(async () => Math.hypot(...(await page.evaluate(() => window.tactus.values("black_ball")))) > 20, "the black ball moving");
  const after_drag = await page.locator("#world").screenshot();
  assert.ok(!before_drag.equals(after_drag));
});

test("the picture does not move under a hand that drags", async () => {
  const box = await world_box();
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.down();
  const corner = () => page.evaluate(() => window.tactus.to_world(0, 0));
  const at_first = await corner();
  await page.mouse.move(box.x + box.width - 3, box.y + 3, { steps: 10 });
  await page.waitForTimeout(300);
  assert.deepEqual(await corner(), at_first);
  await page.mouse.up();
});

test("arrow keys move the hand", async () => {
  await page.focus("#world");
  await page.keyboard.down("ArrowRight");
  await until(() => sent("hand").length > 0 && sent("hand").at(-1).position[0] > 0, "the hand to the right");
  await page.keyboard.up("ArrowRight");
  await until(() => sent("leave").length === 1, "leave");
});

test("a slider sets its parameter; another client's choice shows; double click goes back", async () => {
  const slider = page.locator(".parameter input[type=range]").first();
  await slider.focus();
  await slider.fill("500");
  await until(() => sent("set").length > 0, "set");
  assert.deepEqual(sent("set").at(-1), { type: "set", name: "k", value: 25 });
  await until(async () => (await page.locator(".parameter .number").first().inputValue()) === "25", "the number");
  mock.say_all({ type: "parameter", name: "b", value: 7.5 });
  await until(async () => (await page.locator(".parameter .number").nth(1).inputValue()) === "7.5", "another client's choice");
  await slider.dblclick();
  await until(() => sent("set").at(-1).value === 4, "back to the start");
  const number = page.locator(".parameter .number").first();
  await number.fill("12,5");
  await number.press("Enter");
  await until(() => sent("set").at(-1).value === 12.5, "a typed number");
});

test("time: pause, step, reset and speed by button and key", async () => {
  await page.focus("#world");
  await page.keyboard.press("Space");
  await until(() => sent("pause").length === 1, "pause");
  await until(async () => (await page.textContent("#run-state")) === "paused", "paused is shown");
  await page.keyboard.press(".");
  await until(() => sent("step").length === 1, "step");
  await page.keyboard.press("r");
  await until(() => sent("reset").length === 1, "reset");
  await until(async () => (await page.textContent("#time")) === "0.00", "time begins again");
  await page.click("#play");
  await until(() => sent("resume").length === 1, "resume");
  await page.locator("#speed").fill("-20");
  await until(() => sent("speed").at(-1)?.value === 0.1, "speed");
  // In the text, these keys are letters.
  await page.click(".cm-content");
  await page.keyboard.type("r. ");
  await page.waitForTimeout(150);
  assert.equal(sent("reset").length + sent("step").length + sent("pause").length, 3);
});

async function type_at_end(text) {
  await page.click(".cm-content");
  await page.keyboard.press("Control+End");
  await page.keyboard.type(text);
}

test("a world at rest is not drawn again and again", async () => {
  await page.click("#play");
  await until(async () => (await page.textContent("#loop")).includes("at rest"), "rest");
  const frames = await page.evaluate(() => window.tactus.frames);
  await until(async () => (await page.evaluate(() => window.tactus.frames)) > frames, "frames still come");
  await page.click("#play");
  await until(async () => /\d+ frames\/s/.test(await page.textContent("#loop")), "motion again");
});

test("an edit with a mistake is marked at its line while the world runs on; mending it makes a new world", async () => {
  const lines = mock.world.files[0].text.split("\n").length;
  await type_at_end("\n// a\n  y = oops;");
  await until(() => page.locator(".problem").count(), "the problem");
  assert.match(await page.locator(".problem").textContent(), new RegExp(`line ${lines + 2}.*no equation determines .oops.*make it a parameter`));
  await until(() => page.locator(".cm-lintRange-error").count(), "the mark");
  assert.equal(await page.locator(".cm-lintRange-error").textContent(), "oops");
  const generation = await page.evaluate(() => window.tactus.generation);
  const frames = await page.evaluate(() => window.tactus.frames);
  await until(async () => (await page.evaluate(() => window.tactus.frames)) > frames + 5, "frames of the last good world");
  for (let i = 0; i < 5; ++i) await page.keyboard.press("Backspace");
  await page.keyboard.type("2;");
  await until(async () => (await page.evaluate(() => window.tactus.generation)) > generation, "a new generation");
  await until(async () => (await page.textContent("#problems")) === "No problems", "no problems");
  assert.equal(sent("edit").at(-1).text, mock.world.files[0].text);
  const versions = sent("edit").map((edit) => edit.version);
  assert.ok(versions.every((version, i) => i === 0 || version > versions[i - 1]));
});

test("ctrl-S saves, and the dot goes", async () => {
  await type_at_end("\n// saved");
  const tab = page.locator(".file-tab");
  await until(async () => (await tab.getAttribute("data-unsaved")) === "true", "the dot");
  await page.keyboard.press("Control+s");
  await until(() => sent("save").length === 1, "save");
  await until(async () => (await tab.getAttribute("data-unsaved")) === "false", "no dot");
  assert.ok(mock.disk.get("two_ball.tact").endsWith("\n// saved"));
});

test("what is saved is what is shown, whatever another page sent before", async () => {
  await type_at_end("\n// mine");
  await until(() => sent("edit").length > 0, "the edit");
  const edits = sent("edit").length;
  await page.keyboard.press("Control+s");
  await until(() => sent("save").length === 1, "save");
  assert.ok(sent("edit").length > edits && sent("edit").at(-1).text.endsWith("// mine"));
});

test("a file keeps its line breaks, and is not called unsaved for them", async () => {
  const original = mock.disk.get("two_ball.tact").replaceAll("\n", "\r\n");
  mock.disk.set("two_ball.tact", original);
  Object.assign(mock.world.files[0], { text: original, edited: false });
  mock.received.length = 0;
  await load();
  assert.equal(await page.locator(".file-tab").getAttribute("data-unsaved"), "false");
  await type_at_end("\n// two");
  await until(() => sent("edit").at(-1)?.text === `${original}\r\n// two`, "the edit, in the file's own breaks");
  await page.keyboard.press("Control+s");
  await until(async () => (await page.locator(".file-tab").getAttribute("data-unsaved")) === "false", "no dot");
  assert.equal(mock.disk.get("two_ball.tact"), `${original}\r\n// two`);
});

test("a note that is told again and again is one note, and many are few", async () => {
  const notes = () => page.locator("#notes .notice").allTextContents();
  for (let i = 0; i < 5; ++i) mock.say_all({ type: "note", text: "it does not start" });
  await until(async () => (await notes()).length > 0, "the note");
  for (let i = 0; i < 9; ++i) mock.say_all({ type: "note", text: `note ${i}` });
  await until(async () => (await notes()).at(-1) === "note 8", "the newest");
  assert.deepEqual(await notes(), ["note 5", "note 6", "note 7", "note 8"]);
});

test("a reload keeps what was typed, also when the server has forgotten it", async () => {
  const original = mock.disk.get("two_ball.tact");
  await type_at_end("\n// draft");
  // A slow machine sends the text in pieces: the server may forget only what has come whole.
  await until(() => sent("edit").at(-1)?.text === `${original}\n// draft`, "the whole edit");
  Object.assign(mock.world.files[0], { text: original, edited: false });
  mock.received.length = 0;
  await load();
  await until(async () => (await page.locator(".cm-content").textContent()).includes("// draft") || (await scrolled_text()).includes("// draft"), "the draft in the text");
  await until(() => sent("edit").at(-1)?.text === `${original}\n// draft`, "the draft sent");
});

async function scrolled_text() {
  await page.click(".cm-content");
  await page.keyboard.press("Control+End");
  return page.locator(".cm-content").textContent();
}

test("another client's text is taken over, with the cursor where it was", async () => {
  await page.click(".cm-content");
  mock.edit({ file: "two_ball.tact", text: `// from elsewhere\n${mock.world.files[0].text}` });
  await until(async () => (await page.locator(".cm-line").first().textContent()) === "// from elsewhere", "their text");
  await page.waitForTimeout(200);
  assert.equal(sent("edit").length, 0);
});

test("a text that does not compile is not undone by a world that shows the last good one", async () => {
  const original = mock.world.files[0].text;
  await type_at_end("\n  y = oops;");
  await until(() => page.locator(".problem").count(), "the problem");
  const good = sent("edit").map((edit) => edit.text).filter((text) => !text.includes("oops")).at(-1) ?? original;
  mock.say_all({ ...mock.world, files: [{ name: "two_ball.tact", text: good, edited: false }], generation: 9 });
  await until(async () => (await page.evaluate(() => window.tactus.generation)) === 9, "that world");
  assert.match(await page.locator(".cm-content").textContent(), /oops/);
});

test("two fingers zoom and move the picture, and let go of the hand", async () => {
  const box = await world_box();
  const devtools = await context.newCDPSession(page);
  const touch = (type, ...points) => devtools.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x: box.x + x, y: box.y + y, id })) });
  const width = () => page.evaluate(() => window.tactus.to_world(400, 100)[0] - window.tactus.to_world(300, 100)[0]);
  const at_first = await width();
  await touch("touchStart", [300, 250]);
  await until(() => sent("hand").length > 0, "one finger is the hand");
  await touch("touchStart", [300, 250], [400, 250]);
  await until(() => sent("leave").length === 1, "two are not");
  await touch("touchMove", [250, 250], [450, 250]);
  await touch("touchEnd");
  assert.ok(Math.abs((await width()) / at_first - 0.5) < 0.01, `${(await width()) / at_first}`);
  await page.click("#fit");
  await until(async () => Math.abs((await width()) / at_first - 1) < 0.02, "fit");
});

test("a lost connection is told, taken up again, and what was typed meanwhile is sent", async () => {
  mock.drop();
  await until(() => page.locator('.notice[data-key="connection"]').count(), "the banner");
  await type_at_end("\n// offline");
  await until(() => sent("hello").length === 2, "hello again");
  await until(async () => (await page.locator('.notice[data-key="connection"]').count()) === 0, "no banner");
  await until(() => sent("edit").at(-1)?.text.endsWith("// offline"), "the text typed meanwhile");
  const frames = await page.evaluate(() => window.tactus.frames);
  await until(async () => (await page.evaluate(() => window.tactus.frames)) > frames, "frames again");
});

test("a server that no longer knows the page says what to do", async () => {
  mock.refuse(true);
  mock.drop();
  await until(async () => (await page.locator(".notice").allTextContents()).some((text) => text.includes("open the link it printed")), "the advice");
});

test("a failure is a banner whose line can be clicked", async () => {
  mock.fail({ kind: "step", text: "the step became too small", hint: "look at 1/x", line: 12 });
  const banner = page.locator('.notice[data-key="failure"]');
  await banner.waitFor();
  assert.match(await banner.textContent(), /the step became too small.*look at 1\/x/);
  await banner.getByRole("button", { name: "Line 12" }).click();
  await until(async () => (await page.locator(".cm-activeLineGutter").allTextContents()).includes("12"), "line 12 is active");
  // What cannot be done is not offered, and what can be stands out.
  await until(async () => (await page.textContent("#run-state")) === "stopped", "stopped");
  for (const id of ["#play", "#step"]) assert.equal(await page.locator(id).isDisabled(), true, id);
  assert.match(await page.locator("#reset").getAttribute("class"), /primary/);
  await page.locator("#world").focus();
  for (const key of [" ", "."]) await page.keyboard.press(key);
  await banner.getByRole("button", { name: "Reset" }).click();
  await until(() => sent("reset").length === 1, "reset");
  assert.deepEqual([sent("pause"), sent("resume"), sent("step")], [[], [], []]);
  await until(async () => (await banner.count()) === 0, "no banner");
  await until(async () => (await page.textContent("#run-state")) === "running", "running");
  assert.equal(await page.locator("#play").isDisabled(), false);
});

test("values are added to a plot and taken away", async () => {
  await page.locator(".plot").first().getByRole("button", { name: "Choose values" }).click();
  await page.locator(".choices label", { hasText: "cross1" }).locator("input").check();
  await page.getByRole("button", { name: "Done" }).click();
  assert.deepEqual(await page.locator(".plot").first().locator(".legend-name").allTextContents(), ["black_ball[1]", "black_ball[2]", "cross1"]);
  await page.locator(".plot").first().locator(".legend-item").first().hover();
  await page.getByRole("button", { name: "remove black_ball[1]" }).click();
  assert.deepEqual(await page.locator(".plot").first().locator(".legend-name").allTextContents(), ["black_ball[2]", "cross1"]);
});

test("[space] in space the handle is taken by a press near it, elsewhere the camera turns", async () => {
  await open("space");
  const box = await world_box();
  await page.waitForTimeout(400);
  // Far from the handle, in a lower corner.
  await page.mouse.move(box.x + 40, box.y + box.height - 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 80, box.y + box.height - 30, { steps: 4 });
  await page.mouse.up();
  assert.equal(sent("hand").length, 0);
  const place = await page.evaluate(() => window.tactus.to_pixels(window.tactus.values("h")));
  await page.mouse.move(box.x + place[0], box.y + place[1]);
  await page.mouse.down();
  await until(() => sent("hand").length > 0, "the hand");
  // A press on the handle itself does not move it.
  assert.ok(near(sent("hand")[0].position, [0, 0, 1.6], 0.02), sent("hand")[0].position.join(" "));
  const before_wheel = sent("hand").at(-1).position;
  await page.mouse.wheel(0, -400);
  await until(() => Math.hypot(...sent("hand").at(-1).position.map((x, i) => x - before_wheel[i])) > 0.1, "the wheel pushes the hand");
  await page.mouse.up();
  assert.deepEqual(complaints, []);
});

test("[space] a mesh is fetched from the model's folder; one that is not there is told", async () => {
  await open("space");
  const asked = page.waitForRequest(/tetrahedron/);
  await page.reload();
  assert.equal((await (await asked).response()).status(), 200);
  const drawings = [...mock.world.drawings, { kind: "mesh", file: "gone.stl", at: [0, 0, 0] }];
  mock.say_all({ ...mock.world, generation: 2, drawings });
  await until(async () => (await page.locator("#notes").textContent()).includes("gone.stl"), "the note");
});

test("[pendulum] a camera follows its point, at its scale", async () => {
  await open("pendulum");
  mock.say_all({ ...mock.world, drawings: [...mock.world.drawings, { kind: "camera", follow: { at: 3, count: 2 }, scale: 6 }] });
  const box = await world_box();
  await until(async () => {
    const low = await page.evaluate((y) => window.tactus.to_world(0, y), box.height);
    const high = await page.evaluate(() => window.tactus.to_world(0, 0));
    return Math.abs(high[1] - low[1] - 6) < 0.05;
  }, "six units high");
  await page.click("#play");
  await page.waitForTimeout(300);
  const pixel = await page.evaluate(() => window.tactus.to_pixels(window.tactus.values("ball")));
  assert.ok(Math.abs(pixel[0] - box.width / 2) < 30 && Math.abs(pixel[1] - box.height / 2) < 30, pixel.join(" "));
});

test("[pendulum] what stays out of the picture while the hand drags is brought in without moving the hand", async () => {
  await open("pendulum");
  const box = await world_box();
  await page.mouse.move(box.x + box.width - 60, box.y + 200);
  await page.mouse.down();
  await until(() => sent("hand").length > 0, "the hand");
  const where = sent("hand").at(-1).position[0];
  // The rod falls through, below what was seen at first.
  await until(async () => (await page.evaluate(() => window.tactus.values("ball")))[1] < -3, "the ball below");
  await until(async () => {
    const pixel = await page.evaluate(() => window.tactus.to_pixels(window.tactus.values("ball")));
    return pixel[0] > 0 && pixel[0] < box.width && pixel[1] > 0 && pixel[1] < box.height;
  }, "the ball in view");
  assert.ok(Math.abs(sent("hand").at(-1).position[0] - where) < 1e-6);
  await page.mouse.up();
});

test("[pendulum] a hand with one component moves along x only", async () => {
  await open("pendulum");
  const box = await world_box();
  await page.mouse.move(box.x + 300, box.y + 150);
  await page.mouse.down();
  await until(() => sent("hand").length > 0, "the hand");
  const [x, y, z] = sent("hand").at(-1).position;
  assert.ok(x !== 0 && y === 0 && z === 0);
  await page.mouse.up();
});

test("[tablet] portrait shows the world and one panel; tabs change it", async () => {
  await open("two_ball", { viewport: { width: 768, height: 1024 }, hasTouch: true });
  assert.equal(await page.locator("#world").isVisible(), true);
  assert.equal(await page.locator("#text-panel").isVisible(), true);
  assert.equal(await page.locator("#parameters-panel").isVisible(), false);
  for (const [tab, panel] of [["Parameters", "#parameters-panel"], ["Plots", "#plots-panel"], ["Loop", "#loop-panel"], ["Text", "#text-panel"]]) {
    await page.getByRole("tab", { name: tab, exact: true }).click();
    assert.equal(await page.locator(panel).isVisible(), true, tab);
  }
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.equal(overflow, 0);
});

// --- The page tells the truth -------------------------------------------------------------------------------------------

const number_of = (name) => page.locator(".parameter", { has: page.locator(`label:text-is("${name}")`) }).locator(".number");
const notes = async () => (await page.locator("#notes .notice").allTextContents()).join("\n");

test("a refused value does not stay on display, and the page says why", async () => {
  const k = number_of("k");
  await k.fill("80");
  await k.press("Enter");
  await until(async () => (await notes()).includes("`k` is between 0 and 50, not 80"), "the refusal");
  await until(async () => (await k.inputValue()) === "4", "the value in force");
  assert.equal(await page.locator(".parameter input[type=range]").first().inputValue(), "80"); // 4 of 50, in thousandths
  // What is no number is not even sent.
  for (const text of ["abc", "1e999", "--3"]) {
    await k.fill(text);
    await k.press("Enter");
    await until(async () => (await notes()).includes(`\`k\` needs a number, not \`${text}\``), text);
    assert.equal(await k.inputValue(), "4", text);
  }
  await k.fill("");
  await k.press("Tab");
  assert.equal(await k.inputValue(), "4");
  assert.deepEqual(sent("set").map((message) => message.value), [80]);
  await k.fill("7");
  await k.press("Enter");
  await until(() => sent("set").at(-1).value === 7, "a good one");
  await until(async () => (await k.inputValue()) === "7", "which is shown");
});

test("arrow keys move the speed slider, by one step each", async () => {
  await page.locator("#speed").focus();
  const shown = () => page.textContent("#speed-text");
  assert.equal(await shown(), "1×");
  for (const [key, speed] of [["ArrowRight", 1.1], ["ArrowRight", 1.3], ["ArrowUp", 1.4], ["ArrowLeft", 1.3], ["Home", 0.1], ["ArrowRight", 0.11], ["End", 10], ["ArrowLeft", 8.9]]) {
    await page.keyboard.press(key);
    await until(() => sent("speed").at(-1)?.value === speed, `${key}: ${speed}`);
    await until(async () => (await shown()) === `${speed}×`, `${speed} shown`);
  }
  // Keys that come faster than answers each count.
  await page.keyboard.press("Home");
  for (let i = 0; i < 20; ++i) await page.keyboard.press("ArrowRight");
  await until(() => sent("speed").at(-1)?.value === 1, "twenty steps to real time");
  await until(async () => (await shown()) === "1×", "which is shown");
});

async function looks_disconnected(word) {
  await until(async () => (await page.textContent("#run-state")) === word, word);
  assert.notEqual(await page.locator("#run-state").getAttribute("data-state"), "running");
  for (const id of ["#play", "#step", "#reset", "#speed"]) assert.equal(await page.locator(id).isDisabled(), true, id);
  assert.equal(await page.locator("#parameters").evaluate((element) => element.inert), true);
  for (const id of ["#loop", "#parameters", ".clock"]) {
    assert.ok(Number(await page.locator(id).first().evaluate((element) => getComputedStyle(element).opacity)) < 0.6, id);
  }
  await until(async () => (await page.textContent("#force-value")) === "–", "no force");
  assert.equal(await page.evaluate(() => window.tactus.hand.held), false);
}

async function looks_connected() {
  await until(async () => (await page.textContent("#run-state")) === "running", "running");
  await until(async () => (await page.locator('.notice[data-key="connection"]').count()) === 0, "no banner");
  for (const id of ["#play", "#step", "#reset", "#speed"]) assert.equal(await page.locator(id).isDisabled(), false, id);
  assert.equal(await page.locator("#parameters").evaluate((element) => element.inert), false);
  assert.equal(await page.locator("#loop").evaluate((element) => getComputedStyle(element).opacity), "1");
  const frames = await page.evaluate(() => window.tactus.frames);
  await until(async () => (await page.evaluate(() => window.tactus.frames)) > frames, "frames");
}

test("a lost server shows no running world: old numbers are grey, the hand is let go, nothing is offered; it comes back by itself", async () => {
  const box = await world_box();
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.down();
  await until(() => sent("hand").length > 0, "the hand");
  mock.refuse(true);
  mock.drop();
  await looks_disconnected("not connected");
  await page.mouse.up();
  mock.refuse(false);
  await page.evaluate(() => undefined);
  await looks_connected();
});

test("a server that says nothing is not taken for one that runs", async () => {
  const box = await world_box();
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.down();
  mock.be_silent(true);
  await looks_disconnected("no answer");
  assert.match(await page.locator('.notice[data-key="connection"]').textContent(), /does not answer: what is shown here is old/);
  await page.mouse.up();
  // A hand that nobody feels is not held, and nothing is asked for that would happen later, unasked.
  const before = sent("hand").length;
  await page.mouse.down();
  await page.keyboard.press("r");
  await page.mouse.up();
  assert.notEqual(await page.locator("#world").getAttribute("data-held"), "true");
  assert.match(await page.textContent(".problems"), /Not checked/);
  // What is typed meanwhile is not lost. (The stand-in answers it, and is silent again.)
  await type_at_end("\n// meanwhile");
  mock.be_silent(false);
  await looks_connected();
  await until(() => sent("edit").at(-1)?.text.endsWith("// meanwhile"), "the text");
  assert.equal(sent("hand").length, before);
  for (const type of ["reset", "save"]) assert.equal(sent(type).length, 0, type);
  assert.equal(sent("hello").length, 1);
});

test("a world that ended says so and offers a reset, nothing else", async () => {
  mock.end({ text: "ended at t = 10: `ending_time = 10`", hint: "a reset begins it again" });
  const banner = page.locator('.notice[data-key="ended"]');
  await banner.waitFor();
  assert.match(await banner.textContent(), /The world ended at t = 10/);
  assert.equal(await page.textContent("#run-state"), "ended");
  for (const id of ["#play", "#step"]) assert.equal(await page.locator(id).isDisabled(), true, id);
  assert.equal(await page.locator("#reset").isDisabled(), false);
  const box = await world_box();
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.down();
  assert.notEqual(await page.locator("#world").getAttribute("data-held"), "true");
  await page.mouse.up();
  await banner.getByRole("button", { name: "Reset" }).click();
  await until(() => sent("reset").length === 1, "reset");
  await until(async () => (await banner.count()) === 0, "no banner");
  await until(async () => (await page.textContent("#run-state")) === "running", "running");
});

test("a hand that is refused says so while it drags, and no longer", async () => {
  const box = await world_box();
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.down();
  await until(() => sent("hand").length > 0, "the hand");
  const hint = page.locator("#hint");
  const why = "another page holds the hand: what is dragged here is not felt until it lets go";
  mock.say_all({ type: "hand", refused: why });
  await until(async () => (await hint.isVisible()) && (await hint.textContent()) === why, "why");
  mock.say_all({ type: "hand", refused: null });
  await until(() => hint.isHidden(), "free again");
  mock.say_all({ type: "hand", refused: why });
  await until(() => hint.isVisible(), "why, again");
  await page.mouse.up();
  await until(() => hint.isHidden(), "nobody drags here");
  // One that comes too late is about nothing.
  mock.say_all({ type: "hand", refused: why });
  mock.say_all({ type: "note", text: "behind it" });
  await until(async () => (await notes()).includes("behind it"), "the note behind it");
  assert.equal(await hint.isHidden(), true);
});

test("plots that were added stay: after a reload, and when the text asks for others", async () => {
  const legends = async () => (await page.locator(".plot:not([hidden])").evaluateAll((plots) => plots.map((plot) => [...plot.querySelectorAll(".legend-name")].map((name) => name.textContent).join())));
  await page.click("#add-plot");
  await page.locator(".choices label", { hasText: "cross1" }).locator("input").check();
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator(".plot").first().locator(".legend-item").first().hover();
  await page.getByRole("button", { name: "remove black_ball[1]" }).click();
  const arranged = ["black_ball[2]", "F[1],F[2]", "cross1"];
  assert.deepEqual(await legends(), arranged);
  await load();
  assert.deepEqual(await legends(), arranged);
  // A world that lacks a value for a while, as texts do that are being edited, does not lose it.
  const without = mock.world.values.filter((value) => value.name !== "cross1");
  mock.say_all({ ...mock.world, values: without });
  await until(async () => (await legends()).length === 2, "the value gone");
  mock.say_all(mock.world);
  await until(async () => (await legends()).length === 3, "the value back");
  mock.world.plots = [["F[1]"]];
  mock.say_all(mock.world);
  await until(async () => (await legends()).join(";") === "black_ball[2];cross1;F[1]", "the text's, beside the person's");
  await load();
  assert.deepEqual(await legends(), ["black_ball[2]", "cross1", "F[1]"]);
});

test("[space] a parameter is shown and typed in the unit of the text", async () => {
  await open("space");
  const tilt = number_of("tilt");
  const row = page.locator(".parameter", { has: page.locator('label:text-is("tilt")') });
  assert.equal(await tilt.inputValue(), "20");
  assert.equal(await row.locator(".unit").textContent(), "deg");
  assert.equal(await row.locator(".unit").isVisible(), true);
  assert.equal(await row.locator("input[type=range]").getAttribute("aria-valuetext"), "20 deg");
  for (const [typed, radians] of [["45", Math.PI / 4], ["30 deg", Math.PI / 6], ["90", Math.PI / 2], ["20", Math.PI / 9]]) {
    await tilt.fill(typed);
    await tilt.press("Enter");
    await until(() => Math.abs((sent("set").at(-1)?.value ?? 0) - radians) < 1e-12, typed);
    await until(async () => (await tilt.inputValue()) === String(Number.parseInt(typed)), `${typed} shown`);
  }
  assert.equal(await row.getAttribute("data-changed"), "false");
  await row.locator("input[type=range]").fill("1000");
  await until(() => sent("set").at(-1).value === Math.PI / 2, "the end of the slider");
  assert.equal(await tilt.inputValue(), "90");
  assert.doesNotMatch(await notes(), /between/);
});

for (const [width, height] of [[1920, 1080], [1366, 768], [1280, 720], [1200, 560], [1024, 768], [800, 600], [390, 844]]) {
  test(`[notes] nothing that is said covers a number or a button, ${width} x ${height}`, async () => {
    await open("two_ball", { viewport: { width, height } });
    const is_narrow = width <= 1180;
    for (const tab of is_narrow ? ["Loop", "Parameters"] : [null]) {
      if (tab !== null) await page.getByRole("tab", { name: tab, exact: true }).click();
      for (let i = 0; i < 4; ++i) mock.say_all({ type: "note", text: `${tab} ${i}: the loop has no real-time priority (Operation not permitted): other programs can delay it; \`ulimit -r 80\`, or CAP_SYS_NICE, allows it` });
      await until(async () => (await page.locator("#notes .notice").allTextContents()).some((text) => text.startsWith(`${tab} 3`)), "the notes");
      const covered = await page.evaluate(() => {
        const box = document.querySelector("#notes").getBoundingClientRect();
        const apart = (a) => a.right <= box.left || a.left >= box.right || a.bottom <= box.top || a.top >= box.bottom;
        const of_interest = "#loop dd, #loop dt, .parameter, #force, #fit, #hint, .bar button, #speed, #run-state, .tabs button, #add-plot, .plot-legend";
        const visible = [...document.querySelectorAll(of_interest)].filter((element) => element.checkVisibility() && element.getBoundingClientRect().width > 0);
        return { count: visible.length, covered: visible.filter((element) => !apart(element.getBoundingClientRect())).map((element) => element.id || element.textContent) };
      });
      assert.ok(covered.count > 10, `${covered.count} things to look at`);
      assert.deepEqual(covered.covered, []);
      const inside = await page.evaluate(() => {
        const notes = document.querySelector("#notes").getBoundingClientRect();
        return notes.left >= 0 && notes.top >= 0 && notes.right <= window.innerWidth && notes.bottom <= window.innerHeight && notes.height > 30;
      });
      assert.ok(inside, "the notes are seen");
    }
  });
}
