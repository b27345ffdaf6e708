// `tactus lsp` under the protocol library that VS Code uses: its connection, its types of request, its errors.
//
//   node editors/test/client.mjs build/bin/tactus
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const lsp = require("vscode-languageserver-protocol/node");

const server = spawn(process.argv[2], ["lsp", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => server.on("exit", resolve));
const connection = lsp.createProtocolConnection(
  new lsp.StreamMessageReader(server.stdout),
  new lsp.StreamMessageWriter(server.stdin),
);
const published = [];
let notice = () => {};
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (params) => {
  published.push(params);
  notice();
});
const diagnostics = async (version) => {
  for (;;) {
    const found = published.find((one) => one.version === version);
    if (found) return found.diagnostics;
    await new Promise((resolve) => (notice = resolve));
  }
};
connection.listen();

const initialized = await connection.sendRequest(lsp.InitializeRequest.type, {
  processId: process.pid,
  rootUri: null,
  capabilities: { textDocument: { publishDiagnostics: { versionSupport: true }, hover: { contentFormat: ["markdown"] } } },
});
assert.equal(initialized.capabilities.hoverProvider, true);
await connection.sendNotification(lsp.InitializedNotification.type, {});
const uri = "file:///nowhere/a.tact";
const textDocument = { uri };
await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
  textDocument: { uri, languageId: "tactus", version: 1, text: "constant g = 9.81;\nsystem\n  x' = g;\n  y = ;\n" },
});
assert.equal((await diagnostics(1))[0].code, "P003");
await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
  textDocument: { uri, version: 2 },
  contentChanges: [{ range: { start: { line: 3, character: 6 }, end: { line: 3, character: 7 } }, text: "1;" }],
});
assert.deepEqual((await diagnostics(2)).filter((one) => one.severity === lsp.DiagnosticSeverity.Error), []);
const position = { line: 2, character: 7 };
const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument, position });
assert.match(hover.contents.value, /constant `g`, a scalar, = 9.81/);
const definition = await connection.sendRequest(lsp.DefinitionRequest.type, { textDocument, position });
assert.deepEqual(definition.range.start, { line: 0, character: 9 });
const edit = await connection.sendRequest(lsp.RenameRequest.type, { textDocument, position, newName: "gravity" });
assert.equal(edit.changes[uri].length, 2);
await assert.rejects(connection.sendRequest(lsp.RenameRequest.type, { textDocument, position, newName: "1" }), /not a name/);
await assert.rejects(connection.sendRequest("no/such", {}), (error) => error.code === lsp.ErrorCodes.MethodNotFound);
const list = await connection.sendRequest(lsp.CompletionRequest.type, { textDocument, position });
assert(list.items.some((item) => item.label === "g"));
await connection.sendRequest(lsp.ShutdownRequest.type);
await connection.sendNotification(lsp.ExitNotification.type);
assert.equal(await exited, 0);
console.log("language server: understood by vscode-languageserver-protocol");
