import { itemsOf, isObject, textOf } from "../exact-json.ts";
import { dollars } from "../funds.ts";
import { openPosition, lockPrices, setPrice } from "../trader.ts";
import { DemoFailure, poll } from "../wait.ts";
import type { Stage, ShowcasePool } from "./pools.ts";

const DEALERS_MONEY = 750_00n;
const FOUND = { withinMs: 120_000, everyMs: 250 };
const VOLUME = "0.4";

/** What a broker finds on a morning: a position that is open, and money that a dealer has moved by hand, with its review and its break. */
export async function leaveSomethingToDecide(stage: Stage, pools: readonly ShowcasePool[]): Promise<void> {
  const { print, funds, system } = stage;
  const [calm, ridge] = pools;
  const investor = calm?.investors[1];
  if (investor === undefined || ridge === undefined) throw new DemoFailure("the showcase has too few accounts");

  print.step("A position stays open, with a floating profit");
  await using _prices = await lockPrices(system.controlUrl);
  await setPrice(funds, "1.10000");
  await openPosition(funds, ridge.master.login, VOLUME);
  await setPrice(funds, "1.11250");

  print.step("A dealer pays money to an Investor by hand: a break, and a review that two operators decide");
  const { login } = investor;
  const body = { login, amount: dollars(DEALERS_MONEY), comment: "goodwill" };
  const sent = await funds.platform.send({ method: "POST", path: "/control/balance", body });
  if (sent.kind !== "done") throw new DemoFailure("the dealer's deal was not made");
  for (const path of ["reviews", "breaks"]) {
    await poll(
      { ...FOUND, what: `${dollars(DEALERS_MONEY)} of a dealer among the ${path}` },
      async () => ((await loginsOf(stage, path)).includes(login) ? true : undefined),
      () => "none",
    );
  }
  print.note(`${dollars(DEALERS_MONEY)} on the Investor ${login}`);
}

async function loginsOf({ funds }: Stage, path: string): Promise<readonly string[]> {
  const page = await funds.api.read(`/api/v1/ops/${path}`);
  return isObject(page) ? itemsOf(page["items"]).map((item) => textOf(item, "login")) : [];
}
