import { randomUUID } from "node:crypto";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { formatMinor } from "#kernel/money.ts";
import { countFigures } from "../support/figures.ts";
import { IS_PROOF } from "../support/proof.ts";
import { type Client, clientOf, dealsOf, type Reply, withKey } from "./support/client.ts";
import { assign, expectDone, newInvestor, newMaster } from "./support/client-requests.ts";
import { expectNothingOpen } from "./support/proof.ts";
import { findBehindReview, newOperator, resumePermits } from "./support/reviews.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";

const CALLERS = 12;
/** The load before the copy is made, and after it. */
const LOAD_MS = 10_000;
const TIMEOUT = { timeout: 900_000 };
/** A lost answer is known after the quiet period of 8 seconds. */
const KNOWN_WITHIN_MS = 60_000;
const REPEAT_MS = 250;

type Command = {
  readonly login: string;
  readonly action: "deposit" | "withdraw";
  readonly amount: string;
  /** Different for each command. */
  readonly comment: string;
  readonly key: string | undefined;
  /** Whether its answer was 200, at any time. */
  isDone: boolean;
};

/** Calls for one account, with Idempotency-Key or without. */
type Caller = {
  readonly login: string;
  readonly hasKeys: boolean;
  readonly commands: Command[];
};

test.runIf(IS_PROOF)(
  "a database that is restored under load moves nothing twice, whatever callers repeat with keys and without",
  TIMEOUT,
  async () => {
    await using system = await startTestSystem({ PAMM_QUIET_PERIOD: "PT8S", PAMM_CHECK_INTERVAL: "PT2S" });
    const client = clientOf(system);
    const operator = withKey(client, await newOperator(system, "first"));
    const second = await newOperator(system, "second");
    const { login: master } = await newMaster(client);
    const callers = await newCallers(client, master);
    const [database, copy] = ["postgres", "copy"].map((name) => join(system.stateDir, name)) as [string, string];

    await underLoad(client, callers, () =>
      system.restart("SIGKILL", () => cp(database, copy, { recursive: true, preserveTimestamps: true })),
    );
    const lostFrom = callers.map(({ commands }) => commands.length);
    await underLoad(client, callers, () =>
      system.restart("SIGKILL", async () => {
        await rm(database, { recursive: true });
        await cp(copy, database, { recursive: true, preserveTimestamps: true });
      }),
    );
    // What a caller without keys repeats is a new request, except where the database has lost the first one.
    const repeated = callers.map(({ hasKeys, commands }, index) =>
      hasKeys ? commands : commands.slice(lostFrom[index]),
    );
    const before = await dealsByLogin(client, callers);
    await Promise.all(repeated.map((commands) => repeatOnce(client, commands)));
    expect(await dealsByLogin(client, callers)).toEqual(before);

    await resumePermits(operator, await findBehindReview(client), second);
    await Promise.all(repeated.map((commands) => repeatUntilKnown(client, commands)));
    await expectNothingOpen(client, master);
    const commands = callers.flatMap((caller) => caller.commands);
    const executed = await executions(client, callers);
    const once = (command: Command): boolean => executed.get(command.comment) === 1;
    expect(commands.filter((command) => (executed.get(command.comment) ?? 0) > 1)).toEqual([]);
    expect(commands.filter((command) => command.isDone && !once(command))).toEqual([]);
    const lost = callers.flatMap((caller, index) => caller.commands.slice(lostFrom[index])).filter(once);
    countFigures({ "commands sent": commands.length, "commands that the database lost": lost.length });
    expect(lost.length).toBeGreaterThan(CALLERS);
  },
);

async function newCallers(client: Client, master: string): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (let index = 0; index < CALLERS; index += 1) {
    const login = await newInvestor(client, "1000.00");
    // A third of the Investors is in the pool.
    if (index % 3 === 0) await expectDone(assign(client, master, login, 0));
    callers.push({ login, hasKeys: index % 2 === 0, commands: [] });
  }
  return callers;
}

/** Runs the restart in the middle of the calls. Each caller has one command in progress. */
async function underLoad(client: Client, callers: readonly Caller[], restart: TestSystem["restart"]): Promise<void> {
  let isOver = false;
  const calls = callers.map(async (caller) => {
    while (!isOver) await send(client, nextCommand(caller));
  });
  await sleep(LOAD_MS);
  const restarted = restart();
  // While nothing runs, callers would send thousands of requests that are refused.
  isOver = true;
  await Promise.all([restarted, ...calls]);
}

function nextCommand({ login, hasKeys, commands }: Caller): Command {
  const count = commands.length + 1;
  const command: Command = {
    login,
    action: count % 4 === 0 ? "withdraw" : "deposit",
    amount: formatMinor(BigInt(100 + count)),
    comment: `L${login}-${count}`,
    key: hasKeys ? randomUUID() : undefined,
    isDone: false,
  };
  commands.push(command);
  return command;
}

/** Undefined without an answer. */
async function send(client: Client, command: Command): Promise<Reply | undefined> {
  const { login, action, amount, comment, key } = command;
  const headers = key === undefined ? {} : { "idempotency-key": key };
  const url = `/api/v1/investor/${action}?login=${login}&amount=${amount}&comment=${comment}`;
  try {
    const reply = await client.send(url, { method: "POST", headers });
    command.isDone ||= reply.status === 200;
    return reply;
  } catch {
    return undefined;
  }
}

/** While no command is sent, a repeated one is refused, or answered with the result that the database still has. */
async function repeatOnce(client: Client, commands: readonly Command[]): Promise<void> {
  for (const command of commands) {
    const reply = await send(client, command);
    expect([200, 409, 503], reply?.text).toContain(reply?.status);
  }
}

async function repeatUntilKnown(client: Client, commands: readonly Command[]): Promise<void> {
  for (const command of commands) {
    for (const until = Date.now() + KNOWN_WITHIN_MS; ; await sleep(REPEAT_MS)) {
      const reply = await send(client, command);
      const isKnown = reply?.status === 200 || reply?.body["code"] === "possible_duplicate";
      if (isKnown) break;
      if (Date.now() > until) throw new Error(`${command.comment}: ${reply?.text ?? "no answer"}`);
    }
  }
}

/** The number of deals of each command, by its comment, which follows the reference in the comment of its deal. */
async function executions(client: Client, callers: readonly Caller[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { login } of callers) {
    for (const { comment } of await dealsOf(client, login)) {
      const own = comment.slice(comment.indexOf(" ") + 1);
      counts.set(own, (counts.get(own) ?? 0) + 1);
    }
  }
  return counts;
}

async function dealsByLogin(client: Client, callers: readonly Caller[]) {
  return await Promise.all(callers.map(({ login }) => dealsOf(client, login)));
}
