// Every program of the repository: [{ path, text }].
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

export function programs() {
  const found = [];
  const visit = (folder) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const full = path.join(folder, entry.name);
      if (entry.isDirectory()) visit(full);
      else if (/\.(tact|phydl|ridl)$/.test(entry.name)) found.push({ path: full, text: fs.readFileSync(full, "utf8") });
    }
  };
  for (const folder of ["examples", "src", "tests"]) visit(path.join(root, folder));
  // Those that show mistakes of the lexer or of brackets have no tree without errors.
  return found.filter(({ path: p }) => !path.basename(p).startsWith("fail_"));
}

// The spellings in src/compiler/parse/words.cpp.
export function reservedWords() {
  const text = fs.readFileSync(path.join(root, "src/compiler/parse/words.cpp"), "utf8");
  const list = /texts\[\] = \{(.*?)\};/s.exec(text)[1];
  return [...list.matchAll(/"(\w+)"/g)].map((match) => match[1]);
}
