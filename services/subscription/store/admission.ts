import type { Queryable } from "#kernel/postgres/query.ts";
import type { UnopenState } from "../domain/admission.ts";
import { findClosing } from "./closings.ts";
import { lacksOwnCapital } from "./masters.ts";

/** What account knows of the Master. */
type Known = { readonly login: string; readonly acceptingInvestors: boolean };

/** Why a Master takes no Investors: its closing, and what it lacks, are recorded here. */
export async function findAdmission(
  db: Queryable,
  { login: masterLogin, acceptingInvestors }: Known,
): Promise<{ readonly masterLogin: string; readonly state: UnopenState | undefined }> {
  const closing = await findClosing(db, masterLogin);
  if (closing !== undefined) return { masterLogin, state: closing.state === "ARCHIVED" ? "archived" : "closing" };
  if (!acceptingInvestors) return { masterLogin, state: "not_accepting" };
  return { masterLogin, state: (await lacksOwnCapital(db, masterLogin)) ? "lacks_money" : undefined };
}
