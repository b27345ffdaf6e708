"""Every reserved word stands in both highlighting grammars and has a line of documentation in the language server; every built-in
function is coloured; the extension's files are there and are JSON.

    python3 tests/grammar_words_test.py
"""
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
VSCODE = ROOT / "editors/vscode"


def reserved():
    text = (ROOT / "src/compiler/parse/words.cpp").read_text()
    return re.findall(r'"(\w+)"', re.search(r"texts\[\] = \{(.*?)\};", text, re.S).group(1))


class GrammarWords(unittest.TestCase):
    def test_textmate(self):
        grammar = json.loads((VSCODE / "syntaxes/tactus.tmLanguage.json").read_text(encoding="utf-8"))
        patterns = [re.search(r"\(\?:([\w|]+)\)", p["match"]).group(1).split("|") for p in grammar["repository"]["words"]["patterns"]]
        listed = [word for words in patterns for word in words]
        self.assertEqual(sorted(listed), sorted(set(listed)))
        self.assertEqual(set(listed) - {"t", "pi"}, set(reserved()))

    def test_tree_sitter(self):
        grammar = (ROOT / "editors/tree-sitter-tactus/grammar.js").read_text(encoding="utf-8")
        for word in reserved():
            self.assertIn(f"'{word}'", grammar)

    def test_language_server(self):
        words = (ROOT / "src/lsp/words.cpp").read_text(encoding="utf-8")
        for word in reserved():
            self.assertIn(f'{{"{word}", "', words)

    def test_functions(self):
        rows = re.findall(r'BuiltinRow\{"(\w+)"', (ROOT / "src/compiler/check/builtins.h").read_text())
        self.assertGreater(len(rows), 30)
        textmate = (VSCODE / "syntaxes/tactus.tmLanguage.json").read_text(encoding="utf-8")
        highlights = (ROOT / "editors/tree-sitter-tactus/queries/highlights.scm").read_text(encoding="utf-8")
        words = (ROOT / "src/lsp/words.cpp").read_text(encoding="utf-8")
        for name in rows:
            self.assertRegex(textmate, rf"[(|:]{name}[|)]")
            self.assertIn(f'"{name}"', highlights)
            self.assertIn(f'{{"{name}", "{name}', words)

    def test_the_extension(self):
        manifest = json.loads((VSCODE / "package.json").read_text())
        self.assertEqual(manifest["contributes"]["languages"][0]["extensions"], [".tact", ".phydl", ".ridl"])
        json.loads((VSCODE / "language-configuration.json").read_text(encoding="utf-8"))
        for file in [manifest["main"], manifest["contributes"]["grammars"][0]["path"],
                     manifest["contributes"]["languages"][0]["configuration"]]:
            self.assertTrue((VSCODE / file).exists(), file)


if __name__ == "__main__":
    unittest.main()
