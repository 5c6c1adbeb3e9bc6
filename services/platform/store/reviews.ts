import { execute, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";

/** Something that does not fit, for a person. */
export type Finding = {
  readonly login: string;
  readonly operation?: bigint | undefined;
  readonly reason: string;
  readonly server?: string | undefined;
  readonly dealId?: bigint | undefined;
  /** What is known, in plain values; amounts as text. */
  readonly evidence: Readonly<Record<string, unknown>>;
};

/** Once per finding, however often it is seen again. */
export async function insertFinding(db: Queryable, finding: Finding): Promise<void> {
  await execute(
    db,
    sql`insert into review (login, operation_number, reason, server, deal_id, evidence)
        values (${finding.login}, ${finding.operation}, ${finding.reason}, ${finding.server}, ${finding.dealId},
                ${JSON.stringify(finding.evidence)}::jsonb)
        on conflict do nothing`,
  );
}
