import { type Crm, execute } from "./command.ts";
import { isObject, itemsOf, type JsonObject, objectOf, textOf } from "./exact-json.ts";
import { dollars } from "./funds.ts";
import { centsOf } from "./platform.ts";
import type { Investor, Master } from "./provision.ts";
import { poll } from "./wait.ts";

/** An Investor and the Master that it follows. */
export type Pair = { readonly investor: Investor; readonly master: Master };

type State = {
  readonly id: string;
  readonly status: string;
  readonly inPool: boolean;
  readonly endedAt: string | null;
};

/** Exits and mirrors take about a second. */
const POLL_MS = 250;
/** Much longer, because a killed process may have to restart first. */
const CONVERGENCE_MS = 120_000;
/** Longer than the time limit of the request, which is 10 s. A second assign or unassign changes nothing. */
const SETTLED_WITHIN_MS = 15_000;
const RATE = 0.2;

export async function assign(crm: Crm, pair: Pair, rate = RATE): Promise<void> {
  const state = await execute(crm, {
    call: assignCall(pair, rate),
    settledWithinMs: SETTLED_WITHIN_MS,
    read: stateOf,
    findEffect: () => findState(crm, pair, ({ status }) => status === "ACTIVE"),
  });
  crm.print.result(
    200,
    `subscription ${state.id} of ${pair.investor.name} is ${state.status}, in_pool ${state.inPool}`,
  );
}

export function assignCall({ investor, master }: Pair, rate = RATE) {
  const perfFee = { rate, enabled: true };
  const body = { master_login: master.login, investor_login: investor.login, perf_fee: perfFee };
  return { method: "POST", path: "/api/v1/investor/assign", body } as const;
}

/** Returns the status after the command. */
export async function unassign(crm: Crm, pair: Pair): Promise<string> {
  const { state, details } = await execute(crm, {
    call: unassignCall(pair),
    settledWithinMs: SETTLED_WITHIN_MS,
    read: (answer) => ({
      state: stateOf(objectOf(answer, "subscription")),
      details: `, payout_enqueued ${answer["payout_enqueued"] === true}, amount ${dollars(centsOf(answer, "amount"))}`,
    }),
    async findEffect() {
      const state = await findState(crm, pair, ({ status }) => status !== "ACTIVE");
      return state && { state, details: "" };
    },
  });
  crm.print.result(200, `subscription ${state.id} is ${state.status}, in_pool ${state.inPool}${details}`);
  return state.status;
}

export function unassignCall({ investor, master }: Pair) {
  const query = `master_login=${master.login}&investor_login=${investor.login}`;
  return { method: "POST", path: `/api/v1/subscriptions/unassign?${query}` } as const;
}

/** PAUSED means that the exit is in progress: the CRM polls and sends no command. */
export async function untilCancelled(crm: Crm, pair: Pair, status: string): Promise<void> {
  const path = listPath(pair);
  const seen = [status];
  crm.print.request({ method: "GET", path });
  const options = { what: "CANCELLED", withinMs: CONVERGENCE_MS, everyMs: POLL_MS };
  const readOnce = async (): Promise<State | undefined> => {
    const state = await findState(crm, pair, () => true);
    if (state !== undefined && seen.at(-1) !== state.status) seen.push(state.status);
    return state?.status === "CANCELLED" && state.endedAt !== null ? state : undefined;
  };
  const { endedAt } = await poll(options, readOnce, () => seen.join(" -> "));
  crm.print.result(200, `${seen.join(" -> ")}, ended_at ${endedAt}`);
}

/** Waits for the mirror, which comes seconds later. Fees may change the expected balance meanwhile, so it can be a function. */
export async function untilBalance(
  crm: Crm,
  { login }: Master,
  expected: bigint | (() => Promise<bigint>),
): Promise<void> {
  const read = typeof expected === "bigint" ? async () => expected : expected;
  const path = `/api/v1/info/balance/${login}`;
  const seen: string[] = [];
  crm.print.request({ method: "GET", path });
  let wanted = await read();
  const options = { what: `the pooled capital on ${login}`, withinMs: CONVERGENCE_MS, everyMs: POLL_MS };
  const readOnce = async (): Promise<true | undefined> => {
    const balance = await readBalance(crm, login);
    const text = balance === undefined ? "not readable" : dollars(balance);
    if (seen.at(-1) !== text) seen.push(text);
    wanted = await read();
    return balance === wanted ? true : undefined;
  };
  await poll(options, readOnce, () => `${seen.join(" -> ")}, and not ${dollars(wanted)}`);
  crm.print.result(200, `balance of the Master: ${seen.join(" -> ")}`);
}

/** Undefined while the platform does not answer: then ok is false and the status is 200. */
export async function readBalance({ api }: Crm, login: string): Promise<bigint | undefined> {
  const answer = await api.read(`/api/v1/info/balance/${login}`);
  return isObject(answer) && answer["ok"] === true ? centsOf(answer, "balance") : undefined;
}

async function findState({ api }: Crm, pair: Pair, isWanted: (state: State) => boolean): Promise<State | undefined> {
  return itemsOf(await api.read(listPath(pair)))
    .map(stateOf)
    .find(isWanted);
}

function listPath({ investor, master }: Pair): string {
  return `/api/v1/info/subscriptions?master_login=${master.login}&investor_login=${investor.login}`;
}

function stateOf(answer: JsonObject): State {
  const endedAt = answer["ended_at"];
  return {
    id: textOf(answer, "id"),
    status: textOf(answer, "status"),
    inPool: answer["in_pool"] === true,
    endedAt: typeof endedAt === "string" ? endedAt : null,
  };
}
