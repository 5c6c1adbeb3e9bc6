import { SERVICES } from "../../../deploy/provision/services.ts";
import { eventually } from "../../journey/support/client.ts";
import { openDatabase } from "./database.ts";
import type { System } from "./start-system.ts";
import { until } from "../until.ts";

const ENDS_WITHIN_MS = 120_000;

export type Crash = {
  /** Operations that were recorded and not final when the services were killed. */
  readonly open: number;
  readonly readySeconds: number;
  readonly finalSeconds: number;
};

/** Recorded deposits and withdrawals; those that have ended have their final state. */
type Counts = { readonly requested: number; readonly open: number };
type Operations = AsyncDisposable & { readonly count: () => Promise<Counts> };

export async function countOperations(system: System): Promise<Operations> {
  const { client, [Symbol.asyncDispose]: close } = await openDatabase(system);
  return {
    async count() {
      const { rows } = await client.query<{ requested: string; open: string }>(
        `select count(*) as requested, count(*) filter (where state not in ('POSTED', 'REFUSED')) as open
         from funding.cashflow`,
      );
      return { requested: Number(rows[0]?.requested), open: Number(rows[0]?.open) };
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Kills all services, then waits until they are ready again and every operation is final. */
export async function killAll(system: System, operations: Operations): Promise<Crash> {
  const before = await operations.count();
  const killedMs = performance.now();
  for (const name of SERVICES) system.signal(name, "SIGKILL");
  await untilReady(system);
  const readySeconds = (performance.now() - killedMs) / 1_000;
  await eventually(async () => {
    const { open } = await operations.count();
    if (open > 0) throw new Error(`${open} operations are open`);
  }, ENDS_WITHIN_MS);
  return { open: before.open, readySeconds, finalSeconds: (performance.now() - killedMs) / 1_000 };
}

async function untilReady({ url }: System): Promise<void> {
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isReady, ENDS_WITHIN_MS, "the service is not ready again");
}
