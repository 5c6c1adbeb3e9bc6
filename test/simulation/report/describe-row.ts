import { legOf } from "../checks/platform-rows.ts";
import type { WrittenRow } from "../postgres/row.ts";
import { textOf } from "../postgres/types.ts";

/** A row that a commit of the platform service has written, as lines of a printed history. */
export function describeRow({ table, committed: row }: WrittenRow): readonly string[] {
  switch (table) {
    case "leg": {
      const { number, kind, login, state, attempt, dealId, refusal, review } = legOf(row);
      const rest = [dealId === null ? "" : `deal ${dealId}`, refusal ?? "", review ?? ""].filter((text) => text !== "");
      return [`   ${kind} ${number} of ${login} is ${state}, attempt ${attempt} ${rest.join(" ")}`.trimEnd()];
    }
    case "scan":
      return [`   scan for ${textOf(row["leg_number"]!)}: ${textOf(row["verdict"]!)}`];
    case "log_entry":
      return [
        `   log of ${textOf(row["login"]!)} ${textOf(row["number"]!)}: ${textOf(row["kind"]!)} ${textOf(row["amount_minor"]!)}`,
      ];
    case "finding":
      return [`   for manual review: ${textOf(row["reason"]!)} on ${textOf(row["login"]!)}`];
    default:
      return [];
  }
}
