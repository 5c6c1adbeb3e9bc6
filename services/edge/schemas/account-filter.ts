import { Type } from "typebox";
import { MAX_PLATFORM_TEXT_LENGTH } from "#kernel/platform-text.ts";
import type { FieldError } from "#kernel/refusal.ts";
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

type Query = {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly external_id?: string | undefined;
  readonly created_from?: string | undefined;
  readonly created_to?: string | undefined;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
};

/** What a list of accounts says of its order. */
export const ACCOUNT_ORDER = "Ascending by creation and id; with `name`, by name and id.";

export function accountFilterErrors(list: string, query: Query, deps: Deps): readonly FieldError[] {
  return [
    ...periodErrors(["created_from", query.created_from], ["created_to", query.created_to]),
    ...accountPage(list, query, deps).errors,
  ];
}

export function accountSearchOf(list: string, query: Query, deps: Deps): SearchInvestorsRequest {
  const [afterName, afterId] = accountPage(list, query, deps).after ?? [undefined, 0n];
  return {
    namePrefix: query.name,
    email: query.email,
    externalId: query.external_id,
    createdFrom: instantOf(query.created_from),
    createdTo: instantOf(query.created_to),
    afterId,
    afterName: query.name && afterName,
    limit: Number(query.limit ?? DEFAULT_LIMIT),
  };
}

/** Names change, so the cursor of a list by name has the one that its item had. */
export function accountPage(list: string, query: Query, { cursors }: Deps) {
  const { name, email, external_id, created_from, created_to, cursor } = query;
  const filter = JSON.stringify([name, email, external_id, instantOf(created_from), instantOf(created_to)]);
  const page = pageAt(cursors.named, `${list}?${filter}`, cursor);
  return {
    ...page,
    next: (last: Named | undefined) => page.next(last && [name === undefined ? "" : last.name, last.id]),
  };
}

type Named = { readonly id: bigint; readonly name: string };
