import { many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Operation } from "../domain/operation.ts";
import { OPERATION_KINDS } from "../domain/operation-kind.ts";
import { operationNumber } from "../protocol/operation-number.ts";
import type { OperationNumber } from "../protocol/operation-number.ts";

export type NewOperation = {
  readonly transferId: bigint;
  readonly leg: number;
  readonly login: string;
  readonly askedMinor: bigint;
  readonly amountMinor: bigint;
  readonly isReady: boolean;
  /** Where it stands as it is recorded: waiting, permitted, or refused at once. */
  readonly standing: Extract<Operation, { state: "INTENT" | "SENDING" | "REFUSED" }>;
};

/** Numbered in the order in which they are given. */
export async function insertOperations(
  tx: Transaction,
  operations: readonly NewOperation[],
): Promise<OperationNumber[]> {
  const rows = await many<{ number: bigint }>(
    tx,
    sql`insert into operation (number, transfer_id, leg, login, kind, asked_minor, amount_minor, is_exclusive, is_ready,
                               state, refusal, attempt)
        select nextval('operation_number'), transfer_id, leg, login, kind, asked, amount, is_exclusive, is_ready, state,
               refusal, attempt
        from (
          select transfer_id, leg, login, kind, asked, amount, is_exclusive, is_ready, state, refusal, attempt
          from unnest(
            ${operations.map(({ transferId }) => transferId)}::bigint[],
            ${operations.map(({ leg }) => leg)}::smallint[],
            ${operations.map(({ login }) => login)}::text[],
            ${operations.map(({ standing }) => standing.kind)}::text[],
            ${operations.map(({ askedMinor }) => askedMinor)}::bigint[],
            ${operations.map(({ amountMinor }) => amountMinor)}::bigint[],
            ${operations.map(({ standing }) => OPERATION_KINDS[standing.kind].exclusive)}::boolean[],
            ${operations.map(({ isReady }) => isReady)}::boolean[],
            ${operations.map(({ standing }) => standing.state)}::text[],
            ${operations.map(({ standing }) => (standing.state === "REFUSED" ? standing.reason : undefined))}::text[],
            ${operations.map(({ standing }) => standing.attempt)}::smallint[]
          ) with ordinality as wished (transfer_id, leg, login, kind, asked, amount, is_exclusive, is_ready, state,
                                       refusal, attempt, place)
          order by place
        ) as in_order
        returning number`,
  );
  return rows.map(({ number }) => operationNumber(number));
}
