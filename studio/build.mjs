// Builds the page: src/ -> dist/{index.html,app.js,app.css}, and prints what a browser has to fetch, compressed.
// With --tests: every test/*.unit.ts -> one file for node's own test runner, build/unit.test.mjs.
// Fails when the page is larger than the bound: it is embedded in the program and must open at once.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
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
  await build({
    entryPoints: { app: join(root, "src/main.ts") },
    bundle: true,
    minify: true,
    format: "iife",
    target: ["chrome110", "firefox110", "safari16"],
    outdir: join(root, "dist"),
    legalComments: "eof",
    logLevel: "warning",
  });
  copyFileSync(join(root, "src/index.html"), join(root, "dist/index.html"));
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
