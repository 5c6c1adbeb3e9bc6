import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Client, clientOf } from "../journey/support/client.ts";
import { startTestSystem, type TestSystem } from "../journey/support/system.ts";
import { sized } from "../support/proof.ts";
import { makeRunFolder } from "../support/run-folder.ts";
import { type TraceCollector, traceCollector } from "../support/trace-collector.ts";

/** The system, with what its faults need. */
export type SystemUnderTest = {
  readonly system: TestSystem;
  readonly client: Client;
  /** The next process that reaches this failpoint kills itself. Returns whether one has not yet. */
  readonly arm: (failpoint: string) => () => boolean;
  readonly collector: TraceCollector;
};

/** In `make proof` a deal may be hidden for ten seconds. */
export const QUIET_PERIOD_MS = sized({ test: 6_000, proof: 20_000 });
/** Each run of all checks takes half a second of a processor. */
export const CHECKED_EVERY_MS = 5_000;

export async function startSystemUnderTest(): Promise<SystemUnderTest & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const collector = stack.use(await traceCollector());
  const armed = join(stack.use(makeRunFolder()).path, "failpoints");
  mkdirSync(armed);
  const system = stack.use(
    await startTestSystem({
      PAMM_QUIET_PERIOD: `PT${QUIET_PERIOD_MS / 1_000}S`,
      PAMM_CHECK_INTERVAL: `PT${CHECKED_EVERY_MS / 1_000}S`,
      PAMM_FAILPOINTS: armed,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    }),
  );
  const arm = (failpoint: string) => {
    // The file says that it is armed; the process that reaches it removes it.
    const file = join(armed, failpoint);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
    return () => existsSync(file);
  };
  const kept = stack.move();
  return { system, client: clientOf(system), arm, collector, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
