import { type Static, Type } from "typebox";
import { MAX_PLATFORM_TEXT_LENGTH } from "#kernel/platform-text.ts";
import type { ListInvestorsRequest } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../../http/route.ts";
import { MAX_NAME_LENGTH } from "../../fields/checks.ts";
import { text } from "../../fields/field.ts";
import { externalIdFilter } from "./labels.ts";
import { pageAt } from "./page.ts";
import { fromField, instantOf, periodErrors, toField } from "./period.ts";
import { DEFAULT_LIMIT, limit100, opaqueCursor } from "./request-fields.ts";

/** The query of a list of accounts. */
export const accountFilter = Type.Object({
  name: Type.Optional(
    text("name", {
      description: "Only accounts with this name, in any case.",
      example: "Ada",
      shown: { minLength: 1, maxLength: MAX_NAME_LENGTH },
    }),
  ),
  email: Type.Optional(
    text("email", {
      description: "Only accounts whose holder has this e-mail address, in any case.",
      example: "ada@example.com",
      shown: { format: "email", maxLength: MAX_PLATFORM_TEXT_LENGTH },
    }),
  ),
  external_id: externalIdFilter,
  created_from: Type.Optional(fromField("that were created or registered")),
  created_to: Type.Optional(toField("that were created or registered")),
  limit: limit100(DEFAULT_LIMIT),
  cursor: Type.Optional(opaqueCursor),
});

type Query = Static<typeof accountFilter>;

export function accountPage(list: string, query: Query, { cursors }: Pick<Deps, "cursors">) {
  const { name, email, external_id: externalId, created_from: from, created_to: to, limit = DEFAULT_LIMIT } = query;
  const filter = { name, email, externalId, createdFrom: instantOf(from), createdTo: instantOf(to) };
  const page = pageAt(cursors.number, `${list}?${JSON.stringify(Object.values(filter))}`, query.cursor);
  return {
    errors: [...periodErrors(["created_from", from], ["created_to", to]), ...page.errors],
    request: { filter, afterId: page.after ?? 0n, limit: Number(limit) } satisfies ListInvestorsRequest,
    next: page.next,
  };
}
