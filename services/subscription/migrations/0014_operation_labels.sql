-- The client's own id of an assign or unassign, and its data. Recorded before the operation, so also for one that was refused.
create table operation_label (
  command_id  text primary key check (command_id <> ''),
  external_id text check (external_id <> ''),
  metadata    jsonb not null check (jsonb_typeof(metadata) = 'object')
);
select append_only('operation_label');
create index operation_label_by_external_id on operation_label (external_id) where external_id is not null;
