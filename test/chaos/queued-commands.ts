import { expect, test } from "vitest";
import { textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf } from "../journey/support/client.ts";
import { closePosition, expectBalances, openPosition, pooled, setPrice } from "../journey/support/trading.ts";
import { countFigures } from "../support/figures.ts";
import { sized } from "../support/proof.ts";
import { repeatUntilDone } from "./repeat-until-done.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

/** The recovery job continues a first try when its caller is gone, and a later one when the claim of its process has ended: 15 s each. */
const TIMEOUT = { timeout: 300_000 };
const SETTLED_MS = 90_000;
const WAITS = "on_blocked=queue&expires_in=PT1H";

type Case = { readonly action: "withdraw" | "unassign"; readonly point: string };

/** One Investor each: its process dies in the first try. */
const CASES: readonly Case[] = [
  { action: "withdraw", point: "subscription/before_waiting.WITHDRAWAL" },
  { action: "unassign", point: "subscription/after_waiting.EXIT" },
  { action: "withdraw", point: "subscription/after_waiting.WITHDRAWAL" },
  { action: "unassign", point: "subscription/before_waiting.EXIT" },
].slice(0, sized({ test: 2, proof: 4 })) as Case[];
const LATER_TRIES = ["subscription/after_queue_start.WITHDRAWAL", "subscription/after_queue_start.EXIT"];

/**
 * Investors of a Master that trades let a withdrawal or an unassign wait; the process dies before each one waits, or after. It dies
 * twice more when the Master is flat and the tries have begun. Each Investor has earned 25.00, of which 7.50 is fee.
 */
export function queuedThroughDeaths(tested: () => SystemUnderTest): void {
  const arm = (point: string): (() => boolean) => {
    countFigures({ "processes killed at a failpoint": 1 });
    return tested().arm(point);
  };

  test(
    "queued commands whose processes die before they wait, after it and in their try are executed once when the Master is flat",
    TIMEOUT,
    async () => {
      const { client } = tested();
      await setPrice(client, "1.10000");
      const {
        login: master,
        paymentLogin,
        investors,
      } = await pooled(
        client,
        CASES.map(() => "1000"),
      );
      const position = await openPosition(client, master, formatVolume(CASES.length));
      const members = CASES.map((each, index) => ({ ...each, login: investors[index] ?? "" }));
      const queued: string[] = [];
      for (const { action, point, login } of members) {
        const isArmed = arm(point);
        const { status, headers } = await repeatUntilDone(client, `${pathOf(action, master, login)}&${WAITS}`);
        expect(status).toBe(202);
        expect(isArmed(), "no process reached the failpoint").toBe(false);
        queued.push(headers.get("x-operation-id") ?? "");
      }
      for (const id of queued) {
        await eventually(async () => expect(await ledger(client, id)).toEqual(["pending", "waiting"]), SETTLED_MS);
      }

      const later = LATER_TRIES.map(arm);
      await setPrice(client, "1.11000");
      await closePosition(client, position);
      for (const id of queued) {
        await eventually(async () => expect(await ledger(client, id)).toEqual(["executed", "ended"]), SETTLED_MS);
      }
      expect(
        later.some((isArmed) => isArmed()),
        "no process reached the failpoint",
      ).toBe(false);
      const { length } = CASES;
      const balances = members.map(({ login, action }) => [login, action === "withdraw" ? "867.5" : "1017.5"] as const);
      const inPool = { [master]: String((length / 2) * 867.5), [paymentLogin]: String(length * 7.5) };
      await expectBalances(client, { ...Object.fromEntries(balances), ...inPool }, SETTLED_MS);
      for (const { login, action } of members) {
        const amounts = (await dealsOf(client, login)).map(({ minor }) => minor).toSorted((a, b) => Number(a - b));
        expect(amounts).toEqual([...(action === "withdraw" ? ["-150"] : []), "-7.5", "25", "1000"].map(minorOf));
      }
    },
  );
}

/** A tenth of a lot earns 100.00 when the price rises by 0.01: 25.00 for each Investor. */
function formatVolume(investors: number): string {
  return (investors * 0.025).toFixed(2);
}

function pathOf(action: Case["action"], master: string, investor: string): string {
  return action === "withdraw"
    ? `/api/v1/investor/withdraw?login=${investor}&amount=150`
    : `/api/v1/subscriptions/unassign?master_login=${master}&investor_login=${investor}`;
}

async function ledger(client: Client, id: string): Promise<string[]> {
  const { body } = await client.get(`/api/v1/operations/${id}`);
  return [textOf(body, "outcome"), textOf(body, "queue_state")];
}
