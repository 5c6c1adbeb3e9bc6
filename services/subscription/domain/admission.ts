import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** The states of a Master that is not open for new Investors. */
export type UnopenState = "not_accepting" | "closing" | "archived" | "lacks_money";

const WHY: Readonly<Record<UnopenState, string>> = {
  not_accepting: "does not accept new Investors now",
  closing: "is being closed",
  archived: "is archived",
  lacks_money:
    "lacks money, for which new Investors must not pay. It accepts them when the broker has paid it in, or operators have allocated it",
};

/** Why no Investor is assigned to a Master that is not open. Investors who are assigned already are not affected. */
export function notAccepting(masterLogin: string, state: UnopenState): Refusal {
  return refuse("master_not_accepting", `Master ${masterLogin} ${WHY[state]}.`, {
    details: { state },
    outcome: "not_executed",
  });
}
