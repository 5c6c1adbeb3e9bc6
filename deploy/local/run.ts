import process from "node:process";
import { StartupError } from "#kernel/process/startup-error.ts";
import { launch, ROOT } from "./launch.ts";
import { startupBanner, writeSystemFile } from "./startup-banner.ts";
import { createSupervisor } from "./supervisor.ts";
import { print } from "./terminal.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

await run(process.argv[2] ?? ROOT);

/** `make run`: runs everything until a signal; starts in order and stops in the opposite order. */
async function run(root: string): Promise<never> {
  const supervisor = createSupervisor();
  const signalled = listenToSignals(supervisor.kill);
  const stack = new AsyncDisposableStack();
  let exitCode = 0;
  try {
    const system = await Promise.race([launch(root, process.env, supervisor, stack), signalled]);
    if (system !== undefined) {
      stack.use(writeSystemFile(system));
      process.stdout.write(startupBanner(system, process.env));
      await signalled;
    }
  } catch (error) {
    exitCode = 1;
    report(error);
  }
  await stack.disposeAsync();
  if (exitCode === 0) print("launcher", "stopped all processes");
  process.exit(exitCode);
}

/** Resolves at the first signal, after which the processes are stopped in order; the second signal kills them. */
function listenToSignals(kill: () => void): Promise<undefined> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (isStopping) {
          print("launcher", "killing all processes");
          kill();
          process.exit(1);
        }
        isStopping = true;
        print("launcher", "stopping all processes; a second Ctrl-C kills them at once");
        resolve(undefined);
      });
    }
  });
}

/** A mistake that an operator can correct is one plain line; any other error is a defect and keeps its stack. */
function report(error: unknown): void {
  const text = error instanceof StartupError ? error.message : error instanceof Error ? error.stack : String(error);
  for (const line of String(text).split("\n")) process.stderr.write(`make run: ${line}\n`);
}
