// Starts `tactus lsp` and connects it. All else is the server's.
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = workspace.getConfiguration("tactus").get("path") || "tactus";
  const run = { command, args: ["lsp"] };
  client = new LanguageClient(
    "tactus",
    "Tactus",
    { run, debug: run },
    { documentSelector: [{ language: "tactus" }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(
      `Tactus: cannot start \`${command} lsp\` (${error.message}). Set "tactus.path" to the program.`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand("tactus.restart", async () => {
      await stop();
      await start();
    }),
    workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration("tactus.path")) return;
      await stop();
      await start();
    }),
  );
  await start();
};

exports.deactivate = stop;
