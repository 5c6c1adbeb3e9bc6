import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { formatMinor } from "#kernel/values/money.ts";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf, type Reply, untilKnown } from "./client.ts";
import { expectDone, newInvestor, unassign } from "./client-requests.ts";
import { closePosition, openPosition, pooled } from "./trading.ts";

/** Callers whose commands have a key each, and who repeat all of them whenever other versions run. */
export type Callers = {
  /** Sends a command that has an Idempotency-Key to the first version, loses the answer of every other one, and repeats that at the last version. */
  readonly client: Client;
  /** From now on these versions run. */
  readonly use: (phase: string, ...versions: readonly [Client, ...Client[]]) => void;
  /** At the last version, every command that was answered gets the same answer. */
  readonly repeatAll: () => Promise<void>;
  /** Answers that a caller must not see, with the phase. */
  readonly failures: readonly string[];
};

type Command = { readonly path: string; readonly init: RequestInit; reply?: Reply };

/** Some answers are lost before the command is executed, and some after. */
const LOST_WITHIN_MS = 60;
const SENDERS = 8;

export function repeatingCallers(first: Client): Callers {
  const commands = new Map<string, Command>();
  const failures: string[] = [];
  let phase = "start";
  let versions: readonly [Client, ...Client[]] = [first];
  const last = (): Client => versions.at(-1) ?? first;

  const fail = (path: string, why: string): void => void failures.push(`${phase}: ${path}: ${why}`);
  const ask = async (version: Client, { path, init, reply: before }: Command): Promise<Reply> => {
    const reply = await version.send(path, init).catch((error: unknown): Reply => {
      const body = { code: "service_unavailable" };
      return { status: 0, headers: new Headers(), text: String((error as Error).cause ?? error), body, items: [] };
    });
    // The first request, whose answer was lost, may still be executed.
    const isOpen = before === undefined && reply.body["code"] === "operation_in_progress";
    if (!isDone(reply) && !isOpen) fail(path, reply.text);
    return reply;
  };
  const askOnce = async (version: Client, command: Command): Promise<Reply> => {
    const before = command.reply;
    const reply = await ask(version, command);
    if (!isDone(reply)) return reply;
    if (before !== undefined && !isRepeated(before, reply)) fail(command.path, `${before.text}, then ${reply.text}`);
    command.reply = reply;
    return reply;
  };
  const send: Client["send"] = async (path, init) => {
    const key = new Headers(init.headers).get("idempotency-key");
    if (key === null) return ask(last(), { path, init });
    const known = commands.get(key);
    if (known !== undefined) return askOnce(last(), known);
    const command: Command = { path, init };
    commands.set(key, command);
    if (commands.size % 2 === 1) return askOnce(versions[0], command);
    const signal = AbortSignal.timeout((commands.size * 7) % LOST_WITHIN_MS);
    await versions[0].send(path, { ...init, signal }).catch(() => undefined);
    return askOnce(last(), command);
  };
  return {
    client: untilKnown({ ...first, send, get: (path) => send(path, { method: "GET" }) }),
    failures,
    use(name, ...running) {
      phase = name;
      versions = running;
    },
    async repeatAll() {
      const answered = [...commands.values()].filter(({ reply }) => reply !== undefined).values();
      const sender = async (): Promise<void> => {
        for (const command of answered) await askOnce(last(), command);
      };
      await Promise.all(Array.from({ length: SENDERS }, sender));
    },
  };
}

const isDone = ({ status }: Reply): boolean => status >= 200 && status < 300;

/** A command that waited may be executed now. */
function isRepeated(before: Reply, reply: Reply): boolean {
  const isSame = before.text === reply.text || before.status === 202;
  const isReplayed = reply.headers.get("idempotency-replayed") === "true";
  return isSame && isReplayed && operationOf(reply) === operationOf(before);
}

const operationOf = ({ headers }: Reply): string => headers.get("x-operation-id") ?? "";

/** Equal to their defaults, and others. An Investor without a Master is blocked by nothing. */
const WITHDRAWALS = ["", "&currency=USD&on_blocked=refuse&expires_in=P7D", "&on_blocked=queue&expires_in=P1D"];
const LABELS = { external_id: "order", metadata: { source: "upgrade" } };
/** Each deposit is larger than the withdrawal after it, and no amount is moved twice. */
const DEPOSITED = 50_00n;
const WITHDRAWN = 10_00n;

/** Deposits, reads and withdraws, one request after the other with a pause after each; `end` compares what was moved with the platform. */
export async function startCustomer(client: Client, pauseMs: number): Promise<{ readonly end: () => Promise<void> }> {
  const login = await newInvestor(client);
  const moved: bigint[] = [];
  let isOver = false;
  const act = async (): Promise<void> => {
    for (let turn = 0; !isOver; turn += 1) {
      const isDeposit = turn % 2 === 0;
      const minor = (isDeposit ? DEPOSITED : WITHDRAWN) + BigInt(turn);
      const options = isDeposit ? "&comment=upgrade" : WITHDRAWALS[(turn >> 1) % WITHDRAWALS.length];
      const query = `login=${login}&amount=${formatMinor(minor)}${options}`;
      await client.post(
        `/api/v1/investor/${isDeposit ? "deposit" : "withdraw"}?${query}`,
        turn % 4 === 0 ? LABELS : undefined,
      );
      moved.push(isDeposit ? minor : -minor);
      await client.get(`/api/v1/info/balance/${login}`);
      await sleep(pauseMs);
    }
  };
  const acting = act();
  return {
    async end() {
      isOver = true;
      await acting;
      expect(moved.length).toBeGreaterThan(10);
      expect((await dealsOf(client, login)).map(({ minor }) => minor)).toEqual(moved);
      const sum = moved.reduce((total, minor) => total + minor, 0n);
      await eventually(async () => {
        const { body } = await client.get(`/api/v1/info/balance/${login}`);
        expect(minorOf(textOf(body, "balance"))).toBe(sum);
      });
    },
  };
}

const IN = "1000";
const OUT = "-150";
const EXECUTED_MS = 60_000;

/** A Master with three Investors, of whom one leaves, the withdrawal of one waits for an open position, and so does the unassign of one; `end` closes it. */
export async function startPool(client: Client): Promise<{ readonly end: () => Promise<void> }> {
  const { login, investors } = await pooled(client, [IN, IN, IN]);
  const [paid = "", leaving = "", left = ""] = investors;
  await expectDone(unassign(client, login, left));
  const { items } = await client.get(`/api/v1/info/subscriptions?investor_login=${left}&wait=30`);
  expect(items).toMatchObject([{ status: "CANCELLED" }]);
  const position = await openPosition(client, login);
  const queued = [
    await client.post(`/api/v1/investor/withdraw?login=${paid}&amount=150&on_blocked=queue`),
    await client.post(
      `/api/v1/subscriptions/unassign?master_login=${login}&investor_login=${leaving}&on_blocked=queue&expires_in=P1D`,
    ),
  ];
  expect(queued.map(({ status }) => status)).toEqual([202, 202]);
  return {
    async end() {
      await closePosition(client, position);
      for (const reply of queued) {
        await eventually(async () => {
          const { body } = await client.get(`/api/v1/operations/${operationOf(reply)}`);
          expect(body).toMatchObject({ outcome: "executed" });
        }, EXECUTED_MS);
      }
      for (const [investor, amounts] of [
        [paid, [IN, OUT]],
        [leaving, [IN]],
        [left, [IN]],
      ] as const) {
        // The result of the position, which is a loss of its spread or nothing, is smaller.
        const moved = (await dealsOf(client, investor)).map(({ minor }) => minor);
        expect(moved.filter((minor) => minor <= -100_00n || minor >= 100_00n)).toEqual(amounts.map(minorOf));
      }
    },
  };
}
