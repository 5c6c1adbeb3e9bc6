import { beforeAll, expect, test } from "vitest";
import { type Client, withKey } from "../journey/support/client.ts";
import { newOperator } from "../journey/support/reviews.ts";
import { countFigures } from "../support/figures.ts";
import { IS_PROOF } from "../support/proof.ts";
import { makeEveryMovement } from "./every-movement.ts";
import { queuedThroughDeaths } from "./queued-commands.ts";
import { reverseUnmatchedDeal } from "./reverse-deal.ts";
import type { SystemUnderTest } from "./system-under-test.ts";
import { webhooksThroughDeaths } from "./webhooks/webhooks.ts";

const START_TIMEOUT_MS = 180_000;
const TIMEOUT = { timeout: 300_000 };

const KINDS = ["deposit", "withdrawal", "fee_debit", "fee_credit", "result", "mirror", "exit"];
/** Operators decide it, so it has a separate scenario. */
const REVERSAL = "reversal";
/** `after_intent` follows the commit of a transfer request, with its permit if it is its turn; see `OTHER_FAILPOINTS`. */
const FAILPOINTS_OF_SENDS = ["after_permit", "after_write", "after_answer", "after_record"].flatMap((point) =>
  [...KINDS, REVERSAL].map((kind) => `platform/${point}.${kind}`),
);
const OTHER_FAILPOINTS = [
  "platform/after_intent.deposit",
  "platform/after_intent.mirror",
  "platform/after_publish",
  "subscription/after_filing",
  "subscription/after_publish",
  "funding/before_posted.deposit",
  "funding/before_posted.withdraw",
  "subscription/after_assignment",
  "subscription/after_mirror",
  "subscription/after_allocation",
  "subscription/after_posting",
  ...["WANTED", "DECIDED"].map((state) => `subscription/before_departure_step.${state}`),
  ...["after_decision", "after_chain"].flatMap((point) =>
    ["WITHDRAWAL", "EXIT"].map((kind) => `subscription/${point}.${kind}`),
  ),
  "subscription/before_ended.WITHDRAWAL",
  "subscription/after_fees_recorded",
  "fee/before_outcome.paid",
];

/**
 * `make proof` runs all failpoints, in some minutes. In `make test` platform also crashes at those of a send in tests of its protocol (an
 * external leg, an internal one, and fees), and the other services at their statements in a process of a test.
 */
const USUAL = ["platform/after_write.deposit", "platform/after_write.reversal", "subscription/after_decision.EXIT"];

const failpoints = [...FAILPOINTS_OF_SENDS, ...OTHER_FAILPOINTS].filter((point) => IS_PROOF || USUAL.includes(point));

/** Each test kills the process of one service at one of its failpoints. */
export function sagasThroughDeaths(tested: () => SystemUnderTest): void {
  let first: Client;
  let second: Client;

  beforeAll(async () => {
    const { client, system } = tested();
    first = withKey(client, await newOperator(system, "First of failpoints"));
    second = withKey(client, await newOperator(system, "Second of failpoints"));
  }, START_TIMEOUT_MS);

  test.each(failpoints)("%s", TIMEOUT, async (point) => {
    const { client, arm } = tested();
    const isArmed = arm(point);
    await (point.endsWith(`.${REVERSAL}`) ? reverseUnmatchedDeal(client, first, second) : makeEveryMovement(client));
    countFigures({ "processes killed at a failpoint": 1 });
    expect(isArmed(), "no process reached the failpoint").toBe(false);
  });

  queuedThroughDeaths(tested);
  webhooksThroughDeaths(tested);
}
