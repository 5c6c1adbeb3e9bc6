import { itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { SERVICES } from "../../../deploy/provision/services.ts";
import { eventually } from "../../journey/support/client.ts";
import type { Endpoint, RequestTemplate } from "../load/job.ts";
import type { System } from "../system/start-system.ts";
import type { Contestant } from "./contestant.ts";
import { platformBooks, reportedBalance } from "./platform-books.ts";

/** One dollar. */
const AMOUNT_MINOR = 100;
/** A process that was stopped opens its connections again. */
const WORKS_AGAIN_MS = 30_000;

/** The service under test, with deposits to these accounts. */
export function serviceContestant(system: System, logins: readonly string[]): Contestant {
  const { client } = system;
  const signal = (name: NodeJS.Signals): void => SERVICES.forEach((service) => system.signal(service, name));
  return {
    name: "service",
    endpoint: endpointOf(system),
    processes: system.processes,
    pause: () => signal("SIGSTOP"),
    async resume() {
      signal("SIGCONT");
      await eventually(async () => {
        const { status } = await client.get("/readyz");
        if (status !== 200) throw new Error(`the service is not ready: ${status}`);
      }, WORKS_AGAIN_MS);
    },
    deposits: depositsTo(logins),
    books: (of) => platformBooks(client, of, (login) => reportedBalance(client, login)),
    findings: () => openBreaks(system),
    // The system belongs to the bench.
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

export function endpointOf({ url, apiKey }: System): Endpoint {
  const { hostname: host, port } = new URL(url);
  return { host, ports: [Number(port)], headers: { authorization: `Bearer ${apiKey}` } };
}

export function depositsTo(logins: readonly string[]): RequestTemplate[] {
  return logins.map((login) => ({
    method: "POST",
    path: `/api/v1/investor/deposit?login=${login}&amount=1.00&comment={n}`,
    login,
    minor: AMOUNT_MINOR,
  }));
}

/** Differences that the reconciliation of the service itself found. */
export async function openBreaks({ client }: System): Promise<string[]> {
  const { body, text } = await client.get("/api/v1/ops/breaks?limit=100");
  const unreachable = body["unreachable"];
  if (!Array.isArray(unreachable) || unreachable.length > 0) return [`the breaks cannot be read: ${text}`];
  return itemsOf(body["items"]).map((item) => `${textOf(item, "check")}: ${textOf(item, "message")}`);
}
