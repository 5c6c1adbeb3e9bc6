-- outside a transaction
-- Reviews are looked up by the legs and deals of an operation, as services/kernel/review/list-reviews.ts writes them.
create index concurrently review_case_names on review_case using gin ((array[operation_id, 'deal:' || deal_id::text]));
