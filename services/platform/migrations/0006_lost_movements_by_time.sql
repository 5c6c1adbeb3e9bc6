-- outside a transaction
-- While permits are stopped, the movements that were found since are counted; those of earlier restores are kept.
create index concurrently lost_movement_by_time on lost_movement (found_at);
