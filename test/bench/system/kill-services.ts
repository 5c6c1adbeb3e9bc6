import process from "node:process";
import { SERVICES } from "../../../deploy/provision/services.ts";
import { eventually } from "../../journey/support/client.ts";
import type { Operations } from "./operations.ts";
import type { System } from "./start-system.ts";
import { until } from "../until.ts";

const ENDS_WITHIN_MS = 120_000;

export type Crash = {
  /** Operations that were recorded and not final when the services were killed. */
  readonly open: number;
  readonly readySeconds: number;
  readonly finalSeconds: number;
};

/** Kills all services, then waits until they are ready again and every operation is final. */
export async function killAll(system: System, operations: Operations): Promise<Crash> {
  const before = await operations.count();
  const killedMs = performance.now();
  for (const name of SERVICES) kill(system, name);
  await untilReady(system);
  const readySeconds = (performance.now() - killedMs) / 1_000;
  await eventually(async () => {
    const { open } = await operations.count();
    if (open > 0) throw new Error(`${open} operations are open`);
  }, ENDS_WITHIN_MS);
  return { open: before.open, readySeconds, finalSeconds: (performance.now() - killedMs) / 1_000 };
}

/** The launcher starts it again. */
export function kill(system: System, name: string): void {
  const pid = system.processes().get(name);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
}

async function untilReady({ url }: System): Promise<void> {
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isReady, ENDS_WITHIN_MS, "the service is not ready again");
}
