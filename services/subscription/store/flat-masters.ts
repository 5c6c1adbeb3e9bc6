import { fragment } from "#kernel/postgres/query.ts";

/** Flat by the books: no open position, and no deal that is still to be allocated. Of rows that are named `wanted`. A Master without a pool is. */
export const IS_FLAT = fragment`
  not exists (select from pool_position where master_login = wanted.login)
  and not exists (select from master_result where master_login = wanted.login and allocated_at is null)`;
