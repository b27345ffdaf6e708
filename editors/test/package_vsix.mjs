// Builds the VS Code extension and looks into it.
//
//   node editors/test/package_vsix.mjs build/tactus.vsix
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { root } from "./programs.mjs";

const require = createRequire(import.meta.url);
const out = path.resolve(process.argv[2]);
const extension = path.join(root, "editors/vscode");
const copy = fs.mkdtempSync(path.join(path.dirname(out), "vsix-"));
try {
  fs.cpSync(extension, copy, { recursive: true, filter: (name) => !name.includes("node_modules") });
  execFileSync("npm", ["install", "--omit=dev", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"], {
    cwd: copy,
    stdio: ["ignore", "ignore", "inherit"],
  });
  execFileSync(process.execPath, [require.resolve("@vscode/vsce/vsce"), "package", "--allow-missing-repository", "-o", out], {
    cwd: copy,
    stdio: ["ignore", "ignore", "inherit"],
  });
} finally {
  fs.rmSync(copy, { recursive: true, force: true });
}

const manifest = JSON.parse(fs.readFileSync(path.join(extension, "package.json"), "utf8"));
const read = (name) => execFileSync("python3", ["-c", "import sys, zipfile; sys.stdout.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())", out, name], { encoding: "utf8", maxBuffer: 1 << 26 });
const packed = JSON.parse(read("extension/package.json"));
assert.deepEqual(packed.contributes.languages[0].extensions, [".tact", ".phydl", ".ridl"]);
for (const file of [manifest.main, manifest.contributes.grammars[0].path, manifest.contributes.languages[0].configuration,
  "node_modules/vscode-languageclient/package.json", "node_modules/vscode-jsonrpc/package.json"])
  assert(read(path.posix.join("extension", file)).length > 0, file);
assert.match(read("extension.vsixmanifest"), /Id="tactus"/);
console.log(`extension: ${out}`);
