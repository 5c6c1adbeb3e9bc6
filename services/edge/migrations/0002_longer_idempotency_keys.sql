-- Keys of up to 255 characters. The previous version accepts 64 and stores none that is longer.
alter table idempotency_key drop constraint idempotency_key_key_check;
alter table idempotency_key
  add constraint idempotency_key_key_check check (key ~ '^[\x21-\x7e]{1,255}$') not valid;
