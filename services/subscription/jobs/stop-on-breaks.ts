import { doesStop } from "#catalogue/checks.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { BreakSource } from "#kernel/reconcile/stop-on-breaks.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { isStopDecided, listConcernedMasters } from "../store/masters.ts";
import { stop } from "../processes/review/record-stops.ts";

const NO_DEAL = 0n;

/** Results of a Master whose amounts are not dollars and cents are not allocated. Another account with such amounts is stopped alone, by platform. */
function stopsMaster({ check, masterLogin }: Break): boolean {
  return doesStop(check, "master") || (doesStop(check, "its Master") && masterLogin !== "");
}

/** A break on the account of a Master, or of an Investor in its pool, stops that Master only. */
export function stoppingBreaks(deps: Deps): readonly BreakSource[] {
  const { pool, platform } = deps;
  const stopping: Pick<BreakSource, "mastersOf" | "stop"> = {
    async mastersOf(page) {
      const stopped = page.filter(stopsMaster);
      const masters = Map.groupBy(await listConcernedMasters(pool, stopped), ({ id }) => id);
      return page.map(({ id }) => (masters.get(id) ?? []).map(({ login }) => login));
    },
    async stop(tx, login, found) {
      // Found before operators decided, and read after it: they would have to decide the same once more.
      if (await isStopDecided(tx, login, found)) return;
      const { check, login: account, message, dealIds } = found;
      const dealId = dealIds[0] ?? NO_DEAL;
      const reason = `${check}: ${message}`;
      await stop(tx, deps, { login, account: account || login, reason, dealId, isWaitingDeal: false });
    },
  };
  // The breaks of subscription first: they stop Masters also while platform is unavailable.
  return [
    { service: "subscription", list: (request) => listBreaks(pool, request), ...stopping },
    { service: "platform", list: (request) => platform.listBreaks(request, jobContext()), ...stopping },
  ];
}
