import process from "node:process";
import { StartupError } from "#kernel/startup-error.ts";
import { publish, welcome } from "./announcement.ts";
import { createCrew } from "./crew.ts";
import { launch, ROOT } from "./launch.ts";
import { say } from "./terminal.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

await run(process.argv[2] ?? ROOT);

/** `make run`: everything until a signal, in order on the way up and in the opposite order on the way down. */
async function run(root: string): Promise<never> {
  const crew = createCrew();
  const told = listenToSignals(crew.kill);
  const stack = new AsyncDisposableStack();
  let exitCode = 0;
  try {
    const system = await Promise.race([launch(root, process.env, crew, stack), told]);
    if (system !== undefined) {
      stack.use(publish(system));
      process.stdout.write(welcome(system));
      await told;
    }
  } catch (error) {
    exitCode = 1;
    report(error);
  }
  await stack.disposeAsync();
  if (exitCode === 0) say("launcher", "stopped");
  process.exit(exitCode);
}

/** The first signal stops in order, the second one at once. */
function listenToSignals(kill: () => void): Promise<undefined> {
  return new Promise((resolve) => {
    let isTold = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (isTold) {
          say("launcher", "stopping at once");
          kill();
          process.exit(1);
        }
        isTold = true;
        say("launcher", "stopping; once more to stop at once");
        resolve(undefined);
      });
    }
  });
}

/** What an operator can act on is one plain line (or one per mistake); anything else is a defect and keeps its stack. */
function report(error: unknown): void {
  const text = error instanceof StartupError ? error.message : error instanceof Error ? error.stack : String(error);
  for (const line of String(text).split("\n")) process.stderr.write(`make run: ${line}\n`);
}
