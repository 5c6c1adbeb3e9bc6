import { type Static, Type } from "typebox";
import { MAX_PLATFORM_TEXT_LENGTH } from "#kernel/platform-text.ts";
import type { SearchInvestorsRequest } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../route.ts";
import { MAX_NAME_LENGTH } from "./checks.ts";
import { text } from "./field.ts";
import { externalIdFilter } from "./labels.ts";
import { pageAt } from "./page.ts";
import { fromField, instantOf, periodErrors, toField } from "./period.ts";
import { DEFAULT_LIMIT, limit100, opaqueCursor } from "./request-fields.ts";

/** The query of a list of accounts. */
export const accountFilter = Type.Object({
  name: Type.Optional(
    text("name_prefix", {
      description: "Only accounts whose name begins so, in any case. They are sorted by name then.",
      example: "Ad",
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
  limit: Type.Optional(limit100(DEFAULT_LIMIT)),
  cursor: Type.Optional(opaqueCursor),
});

type Query = Static<typeof accountFilter>;

/** What a list of accounts says of its order. */
export const ACCOUNT_ORDER = "Ascending by creation and id; with `name`, by name and id.";

/** Names change, so the cursor of a list by name has the one that its item had. */
export function accountPage(list: string, query: Query, { cursors }: Pick<Deps, "cursors">) {
  const { name, email, external_id: externalId, created_from: from, created_to: to, limit = DEFAULT_LIMIT } = query;
  const [createdFrom, createdTo] = [instantOf(from), instantOf(to)];
  const filter = JSON.stringify([name, email, externalId, createdFrom, createdTo]);
  const { errors, after, next } = pageAt(cursors.named, `${list}?${filter}`, query.cursor);
  const [afterName, afterId] = after ?? [undefined, 0n];
  const period = { createdFrom, createdTo, afterId, afterName: name && afterName, limit: Number(limit) };
  return {
    errors: [...periodErrors(["created_from", from], ["created_to", to]), ...errors],
    request: { namePrefix: name, email, externalId, ...period } satisfies SearchInvestorsRequest,
    next: (last: Named | undefined) => next(last && [name === undefined ? "" : last.name, last.id]),
  };
}

type Named = { readonly id: bigint; readonly name: string };
