// Builds the page: src/ -> dist/{index.html,app.js,app.css}, the licences of what is bundled -> dist/licenses.txt, and prints what a browser has to fetch, compressed.
// With --tests: every test/*.unit.ts -> one file for node's own test runner, build/unit.test.mjs.
// Fails when the page is larger than the bound: it is embedded in the program and must open at once.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = dirname(fileURLToPath(import.meta.url));
const largest_page_kb = 400;

if (process.argv.includes("--tests")) {
  const tests = readdirSync(join(root, "test")).filter((name) => name.endsWith(".unit.ts"));
  await build({
    stdin: { contents: tests.map((name) => `import "./test/${name}";`).join("\n"), resolveDir: root },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    outfile: join(root, "build/unit.test.mjs"),
    logLevel: "warning",
  });
} else {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  mkdirSync(join(root, "dist"), { recursive: true });
  const { metafile } = await build({
    entryPoints: { app: join(root, "src/main.ts") },
    bundle: true,
    minify: true,
    format: "iife",
    target: ["chrome110", "firefox110", "safari16"],
    outdir: join(root, "dist"),
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  copyFileSync(join(root, "src/index.html"), join(root, "dist/index.html"));
  const packages = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const found = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
    if (found !== null) packages.add(found[1]);
  }
  const licences = [...packages].sort().map((name) => {
    const folder = join(root, "node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence file`);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  writeFileSync(join(root, "dist/licenses.txt"), `The page contains these works.\n\n${licences.join("\n" + "-".repeat(72) + "\n\n")}`);
  let total = 0;
  for (const name of ["index.html", "app.js", "app.css"]) {
    const bytes = readFileSync(join(root, "dist", name));
    const compressed = gzipSync(bytes, { level: 9 }).length;
    total += compressed;
    console.log(`${name.padEnd(11)}${(bytes.length / 1000).toFixed(1).padStart(8)} kB ${(compressed / 1000).toFixed(1).padStart(8)} kB compressed`);
  }
  console.log(`${"in all".padEnd(11)}${" ".repeat(11)} ${(total / 1000).toFixed(1).padStart(8)} kB compressed`);
  if (total > largest_page_kb * 1000) {
    console.error(`the page is larger than ${largest_page_kb} kB compressed`);
    process.exit(1);
  }
}
