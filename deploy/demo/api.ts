import { type Call, exchange } from "./http.ts";
import type { Json } from "./exact-json.ts";
import { type Outcome, outcomeOf, describe } from "./outcome.ts";
import type { System } from "./system.ts";
import { DemoFailure, poll } from "./wait.ts";

export type Api = {
  /** Repeated until the service answers: a read changes nothing. */
  readonly read: (path: string) => Promise<Json>;
  /** A command is sent once. */
  readonly send: (call: Call) => Promise<Outcome>;
};

/** A process that was killed has restarted within this time. */
const READ_POLL = { withinMs: 90_000, everyMs: 500 };

export function createApi({ url, apiKey }: System): Api {
  return serverAt(url, { authorization: `Bearer ${apiKey}` });
}

/** Also used for the simulator's control API, which needs no key. */
export function serverAt(url: string, headers: Readonly<Record<string, string>> = {}): Api {
  const server = { url, headers };

  async function read(path: string): Promise<Json> {
    let last = "no request was sent yet";
    const readOnce = async (): Promise<{ body: Json } | undefined> => {
      const outcome = outcomeOf(await exchange(server, { method: "GET", path }));
      if (outcome.kind === "done") return { body: outcome.answer.body };
      if (outcome.kind === "refused") throw new DemoFailure(`GET ${path} was refused: ${describe(outcome.answer)}`);
      last = outcome.why;
      return undefined;
    };
    const found = await poll({ ...READ_POLL, what: `an answer to GET ${path}` }, readOnce, () => last);
    return found.body;
  }

  return { read, send: async (call) => outcomeOf(await exchange(server, call)) };
}
