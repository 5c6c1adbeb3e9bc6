-- outside a transaction
-- Open operations that are no longer in their first try, or may wait until their Master is flat. One that is executed in its first try is never in it.
create index concurrently cashflow_newest_left_open on cashflow (operation_id collate "C")
  where finished_at is null and (tries > 0 or doubt is not null or queue_state is not null);
