import { expect } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { eventually, type Reply } from "../../journey/support/client.ts";
import { dollars } from "../engine/cents.ts";
import * as investing from "../engine/investing.ts";
import type { Investor, Master } from "../engine/world.ts";
import type { Step } from "../history.ts";
import { codeOf, type Live, loginOf, masterAccountsOf, retryWhileBusy } from "./live.ts";
import * as steps from "./steps.ts";
import { untilEqual } from "./until-equal.ts";
import { inWeek } from "./weeks.ts";

/** The queue looks every second, and the try is a whole command. */
const MIN_TIME_LEFT_MS = 6_000;

type Queued = Extract<Step, { kind: "queued" }>;

/** The command of an Investor waits until its Master, which trades, has closed all its positions. */
export async function queueUntilFlat(live: Live, investor: Investor, master: Master, step: Queued): Promise<void> {
  await untilEqual(live);
  const id = await inWeek(live, `${investor.name} lets ${step.command} ${dollars(step.cents)} wait`, () =>
    queued(live, investor, master, step),
  );
  const [last, ...others] = [...master.floating.keys()].toReversed();
  for (const position of others) await steps.close(live, master, position);
  await inWeek(
    live,
    `${master.name} closes the last position, so ${step.command} of ${investor.name} is executed`,
    async () => {
      await steps.closeNow(live, master, last ?? 0n);
      const operation = await ended(live, id);
      const outcome =
        step.command === "withdraw"
          ? investing.withdraw(live.world, investor, step.cents)
          : investing.unassign(live.world, investor);
      const exact = "refused" in outcome ? `not_executed ${outcome.refused}` : "executed";
      expect(operation, live.transcript.join("\n")).toBe(exact);
    },
    MIN_TIME_LEFT_MS,
  );
  await untilEqual(live);
}

async function queued(live: Live, investor: Investor, master: Master, { command, cents }: Queued): Promise<string> {
  const login = loginOf(live, investor);
  const path =
    command === "withdraw"
      ? `/api/v1/investor/withdraw?login=${login}&amount=${dollars(cents)}&on_blocked=queue`
      : `/api/v1/subscriptions/unassign?master_login=${masterAccountsOf(live, master).login}&investor_login=${login}&on_blocked=queue`;
  const reply: Reply = await retryWhileBusy(() => live.client.post(path));
  expect(`${reply.status} ${codeOf(reply)}`, [...live.transcript, reply.text].join("\n")).toBe("202 ");
  return reply.headers.get("x-operation-id") ?? "";
}

/** The outcome, with its refusal. */
async function ended(live: Live, id: string): Promise<string> {
  return await eventually(async () => {
    const { body } = await live.client.get(`/api/v1/operations/${id}`);
    const outcome = textOf(body, "outcome");
    if (outcome === "pending") throw new Error([...live.transcript, `${id} is pending`].join("\n"));
    return body["refusal"] === null ? outcome : `${outcome} ${textOf(body, "refusal")}`;
  });
}
