import { itemsOf, isObject, textOf } from "../demo/exact-json.ts";
import { poll } from "../demo/wait.ts";
import { type Access, read, untilDone } from "./clients.ts";
import type { Rehearsal } from "./rehearsal.ts";
import { type Receiver, startReceiver } from "./webhook-receiver.ts";

/** A webhook of a client that is sent every event, and what has arrived. */
export type WebhookTraffic = {
  /** Events with a valid signature since the last `take`. */
  readonly take: () => number;
  /** Waits until one more has arrived. */
  readonly untilNext: () => Promise<void>;
  /** Waits until the endpoint has every event of the listing, and checks all signatures. */
  readonly prove: (rehearsal: Rehearsal) => Promise<number>;
};

const ARRIVES = { withinMs: 60_000, everyMs: 250 };

export async function startWebhookTraffic(access: () => Access, stack: AsyncDisposableStack): Promise<WebhookTraffic> {
  const receiver = stack.use(await startReceiver());
  const body = { url: receiver.url, types: "*" };
  const created = await untilDone(access, { method: "POST", path: "/api/v1/webhooks", body });
  receiver.secrets.push(textOf(created, "secret"));
  const first = textOf(created, "through_event_id");
  let taken = 0;
  const untilMoreThan = async (count: number): Promise<void> => {
    const what = "an event at the endpoint of a webhook";
    await poll(
      { ...ARRIVES, what },
      async () => (receiver.received.length > count ? true : undefined),
      () => `${receiver.received.length} have arrived`,
    );
  };
  return {
    take() {
      const since = receiver.received.slice(taken);
      taken += since.length;
      return since.filter(isSigned).length;
    },
    untilNext: () => untilMoreThan(receiver.received.length),
    async prove({ check }) {
      const { received } = receiver;
      check("every event at the endpoint has a valid signature", received.every(isSigned));
      let missing: readonly string[] = ["not read yet"];
      await poll(
        { ...ARRIVES, what: "every event at the endpoint of the webhook" },
        async () => {
          const arrived = new Set(received.map(({ id }) => id));
          missing = (await keysAfter(access(), first)).filter((key) => !arrived.has(key));
          return missing.length === 0 ? true : undefined;
        },
        () => `${missing.length} are missing`,
      );
      return received.length;
    },
  };
}

function isSigned({ signedBy }: Receiver["received"][number]): boolean {
  return signedBy.length > 0;
}

async function keysAfter(access: Access, first: string): Promise<string[]> {
  const keys: string[] = [];
  for (let after = first; ;) {
    const { body } = await read(access, `/api/v1/events?after=${after}&limit=500`);
    if (!isObject(body)) return keys;
    keys.push(...itemsOf(body["items"]).map((item) => textOf(item, "key")));
    if (body["has_more"] === false) return keys;
    after = textOf(body, "next_cursor");
  }
}
