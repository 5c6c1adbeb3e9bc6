import type { Mt5Context } from "./context.ts";
import { badAnswer } from "./errors.ts";
import { fieldsOf, rowsOf, loginOf, requireLogin, ticketOf, volumeOf } from "./fields.ts";
import type { JsonValue } from "./http/json.ts";
import { PAGE_ROWS, readWhole } from "./paging.ts";
import { requireDone } from "./reader.ts";
import type { ServerClock } from "./server-clock.ts";

export type Position = {
  readonly ticket: bigint;
  readonly login: string;
  readonly symbol: string;
  readonly side: "buy" | "sell";
  /** Lots in units of 1e-8. */
  readonly volume: bigint;
  readonly priceOpen: string;
  /** Floating profit in the account's currency, without swap. */
  readonly profitMinor: bigint;
  readonly swapMinor: bigint;
  readonly openedAt: Date;
};

/** All open positions of a login, whole or an error: the result decides how much an Investor may withdraw. */
export async function readPositions(mt5: Mt5Context, login: string): Promise<readonly Position[]> {
  const clock = await mt5.clock();
  return await readWhole({
    what: "positions",
    total: async () => {
      const envelope = await mt5.read({ method: "GET", path: "position/get_total", query: { login } });
      return fieldsOf(requireDone(envelope).answer).number("Total");
    },
    page: async (offset) => {
      const query = { login, offset: String(offset), total: String(PAGE_ROWS) };
      const envelope = await mt5.read({ method: "GET", path: "position/get_page", query });
      return rowsOf(requireDone(envelope).answer).map((row) => readPosition(row, clock, login));
    },
    idOf: ({ ticket }) => ticket,
  });
}

function readPosition(row: JsonValue, clock: ServerClock, login: string): Position {
  const fields = fieldsOf(row);
  requireLogin(fields, login);
  const action = fields.number("Action");
  if (action !== 0 && action !== 1) {
    throw badAnswer("the platform's answer has a position whose action is neither buy nor sell");
  }
  return {
    ticket: ticketOf(fields, "Position"),
    login: loginOf(fields),
    symbol: fields.text("Symbol"),
    side: action === 0 ? "buy" : "sell",
    volume: volumeOf(fields, "Volume"),
    priceOpen: fields.text("PriceOpen"),
    profitMinor: fields.shownMinor("Profit"),
    swapMinor: fields.shownMinor("Storage", 0n),
    openedAt: new Date(clock.toUtcMs(fields.timeMs("TimeCreate", 1_000))),
  };
}
