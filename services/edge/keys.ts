import process from "node:process";
import { openKeySystem } from "./identity/keys/open-key-system.ts";
import { runCommand, type Terminal } from "./identity/keys/run-command.ts";

const terminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
};

await using stack = new AsyncDisposableStack();
try {
  const open = (actor: string | undefined) => openKeySystem(stack, process.env, terminal.note, actor);
  process.exitCode = await runCommand(process.argv.slice(2), open, terminal);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  for (const line of reason.split("\n")) terminal.note(`keys: ${line}`);
  process.exitCode = 1;
}
