import { fragment } from "#kernel/postgres/query.ts";

/** What a request finds: the row that its id stands for, and the last one under its key. */
export const RECORDED = fragment`left join lateral (
                 select id from cashflow where operation_id = requested.operation_id
                 union all
                 select cashflow_id from cashflow_repetition where command_id = requested.operation_id
                 limit 1
               ) as known on true
               left join lateral (
                 select id, operation_id, action, login, amount_minor, currency, comment, state, deadline, finished_at, queue_state, external_id, metadata
                 from cashflow
                 where cashflow.key_client = requested.client and cashflow.key_hash = requested.hash
                 order by key_follows desc
                 limit 1
               ) as keyed on true`;

/** Whether the last operation under the key of a request has the key, and is what the request asks for. */
export const OF_KEY = fragment`keyed.id as keyed_id, keyed.operation_id as keyed_operation,
                 keyed.state <> 'REFUSED' and coalesce(keyed.finished_at >= kept_since, true) as has_key,
                 keyed.action = requested.action and keyed.login = requested.login and keyed.amount_minor = amount
                   and keyed.currency = requested.currency and keyed.comment = requested.comment
                   and keyed.external_id is not distinct from requested.external_id
                   and coalesce(keyed.metadata, '{}') = coalesce(requested.metadata::jsonb, '{}') as is_same,
                 keyed.finished_at is null and keyed.deadline > at
                   and (keyed.queue_state is null or keyed.queue_state = 'WANTED') as is_in_progress`;
