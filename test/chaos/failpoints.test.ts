import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client, clientOf, withKey } from "../journey/support/client.ts";
import { newOperator } from "../journey/support/reviews.ts";
import { startTestSystem, type TestSystem } from "../journey/support/system.ts";
import { countFigures } from "../support/figures.ts";
import { IS_PROOF } from "../support/proof.ts";
import { liveThrough } from "./saga.ts";
import { takeBack } from "./take-back.ts";

const START_TIMEOUT_MS = 180_000;
const TIMEOUT = { timeout: 300_000 };

const KINDS = ["deposit", "withdrawal", "fee_debit", "fee_credit", "result", "mirror", "exit"];
/** People order it, so it has a saga of its own. */
const REVERSAL = "reversal";
/** `after_intent` is a place of its own for those whose order and permit are one commit or are sent by their caller. */
const SENDS = ["after_permit", "after_write", "after_answer", "after_record"].flatMap((place) =>
  [...KINDS, REVERSAL].map((kind) => `platform/${place}.${kind}`),
);
const STEPS = [
  "platform/after_intent.deposit",
  "platform/after_intent.mirror",
  "platform/after_publish",
  "subscription/after_filing",
  "subscription/after_publish",
  "funding/before_posted.deposit",
  "funding/before_posted.withdraw",
  ...["RECORDED", "LEAVING", "COLLECTING", "PAYING"].map((state) => `funding/before_withdrawal_step.${state}`),
  "subscription/after_assignment",
  "subscription/after_mirror",
  "subscription/after_allocation",
  "subscription/after_posting",
  ...["after_place", "after_crystallisation", "after_leave"].flatMap((place) =>
    ["WITHDRAWAL", "EXIT"].map((kind) => `subscription/${place}.${kind}`),
  ),
  "fee/before_outcome.paid",
];

/** `make proof` runs all of them, for some minutes. */
const USUAL = [
  "platform/after_answer.fee_debit",
  "platform/after_permit.exit",
  "platform/after_write.deposit",
  "platform/after_write.reversal",
  "subscription/after_crystallisation.EXIT",
];

const places = [...SENDS, ...STEPS].filter((place) => IS_PROOF || USUAL.includes(place));

describe("a process that dies between two steps leaves a saga that is told to its end, once", () => {
  const armed = mkdtempSync(join(tmpdir(), "pamm-failpoints-"));
  let system: TestSystem;
  let client: Client;
  let second: Client;

  beforeAll(async () => {
    system = await startTestSystem({ PAMM_FAILPOINTS: armed, PAMM_QUIET_PERIOD: "PT6S" });
    client = clientOf(system);
    second = withKey(client, await newOperator(system, "Second"));
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await system[Symbol.asyncDispose]();
    rmSync(armed, { recursive: true });
  }, START_TIMEOUT_MS);

  test.each(places)("%s", TIMEOUT, async (place) => {
    const file = join(armed, place);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
    await (place.endsWith(`.${REVERSAL}`) ? takeBack(client, second) : liveThrough(client));
    countFigures({ "processes ended at a failpoint": 1 });
    expect(existsSync(file), "nobody came by").toBe(false);
  });
});
