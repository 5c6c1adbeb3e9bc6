import { join } from "node:path";
import { freePort } from "../../../deploy/local/ports.ts";
import { type Service, SERVICES } from "../../../deploy/provision/services.ts";
import { eventually } from "../../journey/support/client.ts";
import { startService } from "../start-service.ts";
import { environmentOf } from "./environment.ts";
import type { System } from "./start-system.ts";

/** One more process of each service, with the stores and the trading platform of a running system. */
export type Replica = AsyncDisposable & {
  readonly httpPort: number;
  /** Process ids by name, such as `funding 2`. */
  readonly processes: ReadonlyMap<string, number>;
};

const HOST = "127.0.0.1";
const STARTS_WITHIN_MS = 60_000;
/** Those that others call are ready first. */
const GROUPS: readonly (readonly Service[])[] = [["platform"], ["account", "funding", "subscription", "fee"], ["edge"]];

/**
 * Its services call each other, as a load balancer that spreads connections evenly would have it; commands from any edge reach
 * any replica over NATS. `number` is 2, 3, 4 ...
 */
export async function startReplica(system: System, number: number): Promise<Replica> {
  await using stack = new AsyncDisposableStack();
  const ports = new Map(await Promise.all(SERVICES.map(async (name) => [name, await freePort(HOST)] as const)));
  const httpPort = await freePort(HOST);
  const addresses = Object.fromEntries(
    SERVICES.map((name) => [`${name.toUpperCase()}_GRPC_URL`, `${HOST}:${ports.get(name)}`]),
  );
  const processes = new Map<string, number>();
  for (const group of GROUPS) {
    const starting = group.map(async (name) => {
      const metricsPort = await freePort(HOST);
      const env = {
        ...environmentOf(system, name),
        ...addresses,
        GRPC_PORT: String(ports.get(name)),
        PAMM_METRICS_PORT: String(metricsPort),
        PAMM_HTTP_PORT: String(httpPort),
      };
      const service = stack.use(startService(name, env, join(system.folder, `${name}-${number}.log`)));
      processes.set(`${name} ${number}`, service.pid);
      await eventually(async () => {
        const { ok } = await fetch(`http://${HOST}:${metricsPort}/readyz`);
        if (!ok) throw new Error(`${name} ${number} is not ready`);
      }, STARTS_WITHIN_MS);
    });
    await Promise.all(starting);
  }
  const held = stack.move();
  return { httpPort, processes, [Symbol.asyncDispose]: () => held.disposeAsync() };
}
