import type { Deps } from "../deps.ts";
import type { MoneyOutcome } from "../mt5/classify.ts";
import type { CommandSession } from "../mt5/client.ts";
import { RETCODE } from "../mt5/retcodes.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { mayStillWrite } from "../domain/permit.ts";
import { commentOfLeg } from "./comment-of-leg.ts";
import type { Permit } from "./grant-permits.ts";

/** A permit and the outcome of its command. */
export type Sent = { readonly permit: Permit; readonly outcome: MoneyOutcome };

type Sender = Pick<Deps, "inFlight" | "failpoint" | "log" | "settings">;

/** Writes the command once, while the permit is valid. */
export async function writeOnce(deps: Sender, permit: Permit, session: CommandSession): Promise<Sent> {
  const { leg, attempt, grantedAtMs } = permit;
  deps.failpoint("after_permit", leg.status.kind);
  const { login, number, amountMinor, status } = leg;
  const policy = LEG_KINDS[status.kind];
  const reference = { kind: status.kind, number, attempt };
  const text = commentOfLeg(reference, leg);
  const { checkMargin, origin } = policy;
  const mayWrite = (): boolean => mayStillWrite(grantedAtMs, performance.now());
  const onWritten = (): void => deps.failpoint("after_write", status.kind);
  deps.inFlight.add(number);
  const type = deps.settings.dealTypes[status.kind];
  const order = { login, amountMinor, comment: text, checkMargin, type, isShownToCaller: origin === "external" };
  const outcome = await session
    .changeBalance({ ...order, mayWrite, onWritten })
    .finally(() => deps.inFlight.delete(number));
  deps.failpoint("after_answer", status.kind);
  if (outcome.kind !== "applied") logNotApplied(deps, permit, outcome);
  return { permit, outcome };
}

function logNotApplied(
  { log }: Pick<Sender, "log">,
  { leg, attempt }: Permit,
  outcome: Exclude<MoneyOutcome, { kind: "applied" }>,
): void {
  const { number, login } = leg;
  const { kind } = outcome;
  const reason = outcome.kind === "refused" ? "refused" : outcome.reason;
  const code = outcome.kind === "not_sent" ? undefined : outcome.code;
  const fields = { leg: number, login, attempt, kind, reason, code };
  switch (kind) {
    case "refused":
      // An everyday answer to what has the margin check: its service answers the caller, or lets the money wait.
      if (code === RETCODE.noMoney && LEG_KINDS[leg.status.kind].checkMargin) {
        return log.debug("not enough free funds for leg, outcome recorded", fields);
      }
      return log.warn("leg refused by the trading platform, outcome recorded", fields);
    case "not_sent":
      return log.info("leg not sent, retry scheduled unless it has expired", fields);
    case "unknown":
      return log.warn("no clear answer from the trading platform, outcome is being determined", fields);
  }
}
